/** Whose format a key comes from. */
export type Dialect = 'Agent Skills' | 'Skillet' | 'Claude Code' | 'OpenClaw';

/**
 * What a key does. `describes`: nothing depends on it. `limits`: a bound with a default. `grants` and `restricts`: an
 * invalid value keeps the skill from loading (F8).
 */
type Does = 'describes' | 'limits' | 'grants' | 'restricts';

export type KnownKey = Readonly<{
  dialect: Dialect;
  does: Does;
  /**
   * What this bot does with the key. `read`: it counts. `said`: a diagnostic names it. `nothing`: it is kept and shown,
   * but has no meaning here.
   */
  here: 'read' | 'said' | 'nothing';
  /** What the reference page says about the key. */
  means: string;
}>;

function rows(
  dialect: Dialect,
  keys: Readonly<Record<string, readonly [Does, KnownKey['here'], string]>>,
): readonly (readonly [string, KnownKey])[] {
  return Object.entries(keys).map(([key, [does, here, means]]) => [key, { dialect, does, here, means }]);
}

/** Keys of the front matter in snake case (F6, F11). */
export const knownKeys: ReadonlyMap<string, KnownKey> = new Map([
  ...rows('Agent Skills', {
    name: ['describes', 'read', 'the name; without it, the name of the folder'],
    description: ['describes', 'read', 'what the model is told of it; without it, the first paragraph'],
    license: ['describes', 'read', 'shown'],
    compatibility: ['describes', 'read', 'shown'],
    metadata: ['describes', 'read', 'shown; the needs of OpenClaw below it are read'],
    allowed_tools: ['restricts', 'read', 'the only tools of a run; nothing or an empty list means all'],
  }),
  ...rows('Skillet', {
    version: ['describes', 'read', 'shown'],
    tags: ['describes', 'read', 'searched'],
    author: ['describes', 'read', 'shown'],
    authors: ['describes', 'read', 'shown'],
    rationale: ['describes', 'read', 'shown'],
    env: ['grants', 'read', 'variables that the operator sets below `[skills.NAME]`'],
    packages: ['grants', 'read', 'Debian packages that the sandbox must have'],
    capabilities: ['grants', 'read', 'linked systems that it may use'],
    network: ['grants', 'read', 'hosts that its commands may reach'],
    sensitive: ['restricts', 'read', 'direct messages only, and its words stay there'],
    access: ['restricts', 'read', '`chat_types`: where it works'],
    opt_in: ['restricts', 'read', 'off until the config enables it'],
    model: ['limits', 'read', 'an alias of `[models]`'],
    max_iterations: ['limits', 'read', 'model calls of a run'],
    timeout_seconds: ['limits', 'read', 'time of its scripts'],
    context: ['limits', 'read', '`fork`: a run of its own; `inline`: instructions for the main agent'],
    background: ['limits', 'read', 'runs in the background'],
    agent: ['limits', 'read', 'a profile of `[agents]`'],
  }),
  ...rows('Claude Code', {
    argument_hint: ['describes', 'read', 'shown in menus'],
    disable_model_invocation: ['restricts', 'read', 'only people start it'],
    user_invocable: ['restricts', 'read', '`false`: people do not start it by name'],
    disallowed_tools: [
      'restricts',
      'read',
      'tools that its runs and the main agent lose while they follow it',
    ],
    tools: ['limits', 'read', 'the same as `allowed-tools` where that is absent and it names tools'],
    max_turns: ['limits', 'read', 'the same as `max_iterations`'],
    when_to_use: ['describes', 'read', 'joins the description in the list of skills'],
    paths: ['restricts', 'said', 'joins the description as "for files such as"; nothing here enforces it'],
    hooks: [
      'restricts',
      'said',
      'hooks do not run here; if one can forbid a call, the skill is off until the config enables it',
    ],
    permission_mode: [
      'restricts',
      'said',
      'after `plan`, `dontAsk` or an unknown mode the skill is off until the config enables it',
    ],
    effort: ['limits', 'said', 'the operator sets it: `[models.ALIAS] effort`'],
    arguments: ['describes', 'nothing', ''],
    shell: ['describes', 'nothing', ''],
    mcp_servers: ['grants', 'nothing', ''],
    skills: ['describes', 'nothing', ''],
    memory: ['grants', 'nothing', ''],
    isolation: ['describes', 'nothing', ''],
    color: ['describes', 'nothing', ''],
    initial_prompt: ['describes', 'nothing', ''],
  }),
  ...rows('OpenClaw', {
    homepage: ['describes', 'nothing', ''],
    always: ['grants', 'nothing', ''],
    command_dispatch: ['describes', 'nothing', ''],
    command_tool: ['describes', 'nothing', ''],
    command_arg_mode: ['describes', 'nothing', ''],
  }),
]);

/** Keys below `metadata.openclaw`, below an older name of it, and below `metadata` itself. */
export const knownMetadata: Readonly<Record<string, string>> = {
  'requires.env': 'the same as `env`',
  'requires.bins': 'programs that the sandbox must have',
  'requires.pip': 'Python packages that scripts import',
  install: 'how to get a program',
};

/** Keys whose invalid value keeps the skill from loading (F8). */
export const accessFields: ReadonlySet<string> = keysWhere(
  ({ does, here }) => here === 'read' && (does === 'grants' || does === 'restricts'),
);

/** Keys that mean something here, in snake case (F6). Others are kept as they are. */
export const knownFields: ReadonlySet<string> = keysWhere(({ here }) => here !== 'nothing');

function keysWhere(isSuch: (key: KnownKey) => boolean): ReadonlySet<string> {
  return new Set([...knownKeys].flatMap(([key, row]) => (isSuch(row) ? [key] : [])));
}

/**
 * The key in snake case. A key that restricts counts in any spelling, such as `disallowedTools` or `Allowed-Tools`, so
 * that a slip never removes a restriction.
 */
export function keyName(written: string): string {
  const folded = foldedKey(written);
  const row = knownKeys.get(folded);
  const counts = row?.does === 'restricts' || (row?.dialect === 'Claude Code' && row.does === 'limits');
  return counts ? folded : written.replaceAll('-', '_');
}

function foldedKey(written: string): string {
  return written
    .trim()
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[-. \t]+/g, '_');
}

/** Words in keys that forbid or limit something in some format. */
const restricting =
  /(?:^|_)(?:(?:dis)?allow(?:ed|s|list)?|deny|denied|denies|denylist|forbid(?:den|s)?|block(?:ed|s|list)?|ban(?:ned)?|exclu(?:de|des|ded|sions?)|restrict(?:ed|s|ions?)?|prohibit(?:ed|s)?|(?:black|white)list|read_?only|approvals?|confirm(?:ation)?|disabled?|enabled?|permissions?)(?:_|$)/;

/** Values that restrict nothing. For `enabled` it is the other way round. */
const off = /^(?:|false|no|off|0|none|null|~|\[\s*\]|\{\s*\})$/i;

/** Words that forbid something in a value of `permissions`, a key that otherwise asks for something. */
const forbidding =
  /\b(?:deny|denied|disallow(?:ed)?|forbid(?:den)?|block(?:ed)?|ask|never|false|none|read-?only)\b/i;

/**
 * Whether an unknown key looks as if it restricts the skill; then the skill is off (F11). `source` is the key's value
 * as written.
 */
export function looksRestricting(written: string, source: string): boolean {
  const key = foldedKey(written);
  const word = knownKeys.has(key) ? undefined : restricting.exec(key)?.[0];
  if (word === undefined) return false;
  const isOff = off.test(source.trim());
  if (word.includes('enable')) return isOff && source.trim() !== '';
  return word.includes('permission') ? forbidding.test(source) : !isOff;
}
