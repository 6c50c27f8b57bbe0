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

type Means = Readonly<Record<string, string>>;
type Row = readonly [key: string, is: KnownKey];

function rows(dialect: Dialect, does: Does, here: KnownKey['here'], keys: Means): readonly Row[] {
  return Object.entries(keys).map(([key, means]) => [key, { dialect, does, here, means }]);
}

function unread(dialect: Dialect, does: Does, ...keys: readonly string[]): readonly Row[] {
  return keys.map((key) => [key, { dialect, does, here: 'nothing', means: 'no meaning: kept and shown' }]);
}

/** Keys of the front matter in snake case (F6, F11). */
export const knownKeys: ReadonlyMap<string, KnownKey> = new Map([
  ...rows('Agent Skills', 'describes', 'read', {
    name: 'the name; without it, the name of the folder',
    description: 'what the model is told of it; without it, the first paragraph',
    license: 'shown',
    compatibility: 'shown',
    metadata: 'shown; the needs of OpenClaw below it are read',
  }),
  ...rows('Agent Skills', 'restricts', 'read', {
    allowed_tools: 'the only tools of a run; nothing or an empty list means all',
  }),
  ...rows('Skillet', 'describes', 'read', {
    version: 'shown',
    tags: 'searched',
    author: 'shown',
    authors: 'shown',
    rationale: 'shown',
  }),
  ...rows('Skillet', 'grants', 'read', {
    env: 'variables that the operator sets below `[skills.NAME]`',
    packages: 'Debian packages that the sandbox must have',
    capabilities: 'linked systems that it may use',
    network: 'hosts that its commands may reach',
  }),
  ...rows('Skillet', 'restricts', 'read', {
    sensitive: 'direct messages only, and its words stay there',
    access: '`chat_types`: where it works',
    opt_in: 'off until the config enables it',
  }),
  ...rows('Skillet', 'limits', 'read', {
    model: 'an alias of `[models]`',
    max_iterations: 'model calls of a run',
    timeout_seconds: 'time of its scripts',
    context: '`fork`: a run of its own; `inline`: instructions for the main agent',
    background: 'runs in the background',
    agent: 'a profile of `[agents]`',
  }),
  ...rows('Claude Code', 'describes', 'read', {
    argument_hint: 'shown in menus',
    when_to_use: 'joins the description in the list of skills',
  }),
  ...rows('Claude Code', 'restricts', 'read', {
    disable_model_invocation: 'only people start it',
    user_invocable: '`false`: people do not start it by name',
    disallowed_tools: 'tools that its runs and the main agent lose while they follow it',
  }),
  ...rows('Claude Code', 'limits', 'read', {
    tools: 'the same as `allowed-tools` where that is absent and it names tools',
    max_turns: 'the same as `max_iterations`',
    effort: 'how hard the model thinks in its runs, up to `[models.ALIAS] effort`, else `high`',
  }),
  ...rows('Claude Code', 'restricts', 'said', {
    paths: 'joins the description as "for files such as"; nothing here enforces it',
    hooks: 'hooks do not run here; if one can forbid a call, the skill is off until the config enables it',
    permission_mode:
      'after `plan`, `dontAsk` or an unknown mode the skill is off until the config enables it',
  }),
  ...unread(
    'Claude Code',
    'describes',
    'arguments',
    'shell',
    'skills',
    'isolation',
    'color',
    'initial_prompt',
  ),
  ...unread('Claude Code', 'grants', 'mcp_servers', 'memory'),
  ...unread('OpenClaw', 'describes', 'homepage', 'command_dispatch', 'command_tool', 'command_arg_mode'),
  ...unread('OpenClaw', 'grants', 'always'),
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
