/** Keys of `[skills]` that a skill's own table `[skills.NAME]` would collide with (G4). */
export const reservedNames: ReadonlySet<string> = new Set([
  'allowed_tools_enforcement',
  'auto_sync',
  'bundled',
  'defaults',
  'enabled',
  'invalid_allowed_tools',
  'sources',
  'strict',
  'update_interval_minutes',
  'user_dir',
]);
