import type { Diagnostic } from '../core/diagnostic.ts';
import type { Skill } from '../core/skill.ts';

export type SkillEnvironment =
  | Readonly<{
      ok: true;
      /** The declared names and their values, nothing else. */
      env: Readonly<Record<string, string>>;
      /** One for each name that is refused. */
      diagnostics: readonly Diagnostic[];
    }>
  | Readonly<{ ok: false; /** Declared, and without a value. */ missing: readonly string[] }>;

/**
 * The environment of a skill's processes: what it declares in `env` and the operator set in `[skills.NAME]` (U3).
 * Undeclared values are left out. An empty value counts as missing. Names that steer a loader or interpreter are
 * refused, whoever set them.
 */
export function skillEnvironment(
  skill: Pick<Skill, 'name' | 'path' | 'env'>,
  values: Readonly<Record<string, string | undefined>>,
): SkillEnvironment {
  const declared = [...new Set(skill.env)];
  const names = declared.filter((name) => !steersPrograms(name));
  const valueOf = (name: string): string => (Object.hasOwn(values, name) ? (values[name] ?? '') : '');
  const missing = names.filter((name) => valueOf(name) === '');
  if (missing.length > 0) return { ok: false, missing };
  const diagnostics = declared.filter(steersPrograms).map((name): Diagnostic => ({
    level: 'warning',
    code: 'ENV_REFUSED',
    message: `${skill.name} declares env ${name}, which steers a loader or interpreter: it is not passed on`,
    path: skill.path,
    field: 'env',
  }));
  return { ok: true, env: Object.fromEntries(names.map((name) => [name, valueOf(name)])), diagnostics };
}

/** Whether a variable of this name decides what code a program loads, or through whom it talks (U3). */
export function steersPrograms(name: string): boolean {
  return refusedNames.has(name.toUpperCase()) || refusedShapes.test(name);
}

const refusedShapes =
  /^(LD_|DYLD_|PYTHON|PERL5|BASH_|GLIBC_|GCONV_|MALLOC_|GIT_CONFIG|NPM_CONFIG_|UV_)|_PROXY$/i;

const refusedNames: ReadonlySet<string> = new Set([
  'PATH',
  'HOME',
  'SHELL',
  'ENV',
  'IFS',
  'PS4',
  'CDPATH',
  'TMPDIR',
  'SHELLOPTS',
  'PROMPT_COMMAND',
  'ZDOTDIR',
  'CLASSPATH',
  'NODE_OPTIONS',
  'NODE_PATH',
  'NODE_EXTRA_CA_CERTS',
  'NODE_TLS_REJECT_UNAUTHORIZED',
  'NODE_REPL_EXTERNAL_MODULE',
  'NODE_V8_COVERAGE',
  'NODE_COMPILE_CACHE',
  'NODE_ICU_DATA',
  'RUBYOPT',
  'RUBYLIB',
  'PERLLIB',
  'LUA_INIT',
  'LUA_PATH',
  'LUA_CPATH',
  'BASHOPTS',
  '_JAVA_OPTIONS',
  'JAVA_TOOL_OPTIONS',
  'JDK_JAVA_OPTIONS',
  'LOCPATH',
  'NLSPATH',
  'OPENSSL_CONF',
  'OPENSSL_ENGINES',
  'OPENSSL_MODULES',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'CURL_CA_BUNDLE',
  'REQUESTS_CA_BUNDLE',
  'EDITOR',
  'VISUAL',
  'PAGER',
  'BROWSER',
  'GIT_SSH',
  'GIT_SSH_COMMAND',
  'GIT_EXEC_PATH',
  'GIT_TEMPLATE_DIR',
  'GIT_ASKPASS',
  'GIT_EDITOR',
  'GIT_PAGER',
  'GIT_EXTERNAL_DIFF',
  'GIT_PROXY_COMMAND',
  'SSH_ASKPASS',
  'SSH_AUTH_SOCK',
]);
