/** They win over a skill of the same name (I3). */
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
  'status',
  'whoami',
  'tools',
  'settings',
  'model',
  'persona',
  'exit',
] as const;

export type BuiltIn = (typeof builtIns)[number];
/** Such a skill can't be started by name (I3). */
export function isBuiltIn(name: string): boolean {
  return builtIns.some((builtIn) => builtIn === name);
}
