/** Win over skills of the same name (I3). */
export const builtIns = [
  'start',
  'help',
  'skill',
  'skills',
  'new',
  'clear',
  'retry',
  'stop',
  'tasks',
  'routines',
  'status',
  'whoami',
  'why',
  'tools',
  'settings',
  'memory',
  'model',
  'persona',
  'exit',
] as const;

export type BuiltIn = (typeof builtIns)[number];

/** After a mention these are everyday words, and no commands. */
export const onlyWithMark: readonly BuiltIn[] = ['why'];

export function isBuiltIn(name: string): boolean {
  return builtIns.some((builtIn) => builtIn === name);
}
