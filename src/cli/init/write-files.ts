import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { envFileOf, readConfigFile } from '../../config/load-config.ts';
import { formatConfigProblem } from '../../config/config-problem.ts';
import { OperatorError } from '../../core/errors.ts';
import { operatorText } from '../../core/operator-text.ts';
import { schemaLine } from '../config-schema-file.ts';
import { secretsOf, type InitAnswers, type EnvSecret } from './answers.ts';
import { configText } from './config-text.ts';
import { refuseTracked } from './refuse-tracked.ts';

/**
 * Writes the config and, if there are secrets, `.env` beside it, both 0600. With `replace`, a config that is there is
 * kept as `.old`. Throws OperatorError.
 */
export async function writeFiles(
  file: string,
  answers: InitAnswers,
  replace: boolean,
): Promise<Readonly<{ written: readonly string[] }>> {
  const secrets = secretsOf(answers).filter(({ isSet }) => !isSet);
  const env = envFileOf(file);
  if (secrets.length > 0) refuseTracked(env);
  mkdirSync(path.dirname(file), { recursive: true });
  if (secrets.length > 0) writeEnv(env, secrets);
  if (replace && existsSync(file)) renameSync(file, `${file}.old`);
  writeFileSync(file, configText(answers, schemaLine(file)), { flag: 'wx', mode: 0o600 });
  const variables = Object.fromEntries(secretsOf(answers).map(({ variable, value }) => [variable, value]));
  const parsed = await readConfigFile({ file, env: { ...process.env, ...variables } });
  if (!parsed.ok)
    throw new OperatorError(
      `${file} is written, but has problems:\n${parsed.problems.map(formatConfigProblem).join('\n')}`,
    );
  return { written: secrets.length > 0 ? [file, env] : [file] };
}

/**
 * Writes secrets to `.env`, whose other lines stay as they are. The file is written aside and moved, so that nobody
 * reads half of it, or reads it before it is 0600.
 */
function writeEnv(file: string, secrets: readonly EnvSecret[]): void {
  const before = existsSync(file) ? operatorText(readFileSync(file), file) : '';
  const names = secrets.map(({ variable }) => variable);
  const kept = before
    .split('\n')
    .filter((line) => !names.some((name) => new RegExp(`^\\s*(export\\s+)?${name}\\s*=`).test(line)))
    .join('\n')
    .trimEnd();
  const lines = secrets.map(({ variable, value }) => `${variable}=${inEnv(value)}`);
  const aside = `${file}.new`;
  rmSync(aside, { force: true });
  writeFileSync(aside, `${[...(kept === '' ? [] : [kept]), ...lines].join('\n')}\n`, {
    flag: 'wx',
    mode: 0o600,
  });
  chmodSync(aside, 0o600);
  renameSync(aside, file);
}

/** A value as `.env` holds it. Tokens need no quotes; other values get single quotes, which keep them as they are. */
function inEnv(value: string): string {
  return /^[\w:./+=-]+$/.test(value) ? value : `'${value}'`;
}
