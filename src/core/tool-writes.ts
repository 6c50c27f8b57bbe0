/**
 * Where a tool's effect lasts. `nothing`: there is none. `here`: in this conversation and its folder. `bound`: the tool
 * itself limits it to this chat or person, or asks. `outside`: where other conversations find it.
 */
export type Writes = 'nothing' | 'here' | 'bound' | 'outside';

/**
 * `lasts` is true if the effect outlives the conversation. Then whose words it is and its taint are kept with it (S13).
 */
type Row = Readonly<{ writes: Writes; lasts: boolean }>;

const nothing: Row = { writes: 'nothing', lasts: false };
const here: Row = { writes: 'here', lasts: false };
const bound: Row = { writes: 'bound', lasts: false };
const kept: Row = { writes: 'bound', lasts: true };

/** Has a row for each tool of `built-in-tools.ts` (S14). */
const rows: Readonly<Record<string, Row>> = {
  use_skill: here,
  skills_list: nothing,
  skills_search: nothing,
  skills_load: nothing,
  skills_read_file: nothing,
  routine_add: kept,
  routine_list: nothing,
  routine_change: kept,
  routine_remove: bound,
  bash: here,
  skills_run_script: here,
  read_file: nothing,
  grep_files: nothing,
  write_file: here,
  list_files: nothing,
  send_file: here,
  web_fetch: nothing,
  web_search: nothing,
  subagent: here,
  ask_person: here,
  capability_list: nothing,
  capability_invoke: bound,
  capability_auth: bound,
  remember: kept,
  recall: nothing,
  forget_memory: bound,
  skill_write: { writes: 'outside', lasts: true },
  skill_read: nothing,
};

export function writesOfBuiltIn(name: string): Row | undefined {
  return Object.hasOwn(rows, name) ? rows[name] : undefined;
}

/**
 * What a call that writes may do (S14). `refused`: private words would last where others find them. `outward`: it
 * counts as reaching outside, so a person is asked if private words are around. Nothing is known of tools that are not
 * built in: one with side effects counts as outward.
 */
export function decideWrite(
  tool: Readonly<{ name: string; traits: Readonly<{ sideEffects: boolean }> }>,
  marked: boolean,
): 'free' | 'outward' | 'refused' {
  const row = writesOfBuiltIn(tool.name);
  if (row === undefined) return tool.traits.sideEffects ? 'outward' : 'free';
  if (row.writes !== 'outside') return 'free';
  return marked && row.lasts ? 'refused' : 'outward';
}
