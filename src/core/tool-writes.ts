import type { ToolRow } from './built-in-tools.ts';

/**
 * Where a tool's effect lasts. `nothing`: there is none. `here`: in this conversation and its folder. `bound`: the tool
 * itself limits it to this chat or person, or asks. `outside`: where other conversations find it.
 */
export type Writes = 'nothing' | 'here' | 'bound' | 'outside';

/**
 * What a call that writes may do (S14). `refused`: private words would last where others find them. `outward`: it
 * counts as reaching outside, so a person is asked if private words are around. Nothing is known of tools that are not
 * built in: one with side effects counts as outward.
 */
export function decideWrite(
  { row, traits }: Readonly<{ row?: ToolRow | undefined; traits: Readonly<{ sideEffects: boolean }> }>,
  marked: boolean,
): 'free' | 'outward' | 'refused' {
  if (row === undefined) return traits.sideEffects ? 'outward' : 'free';
  if (row.writes !== 'outside') return 'free';
  return marked && row.lasts === true ? 'refused' : 'outward';
}
