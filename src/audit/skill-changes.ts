import type { Skill } from '../core/skill.ts';
import type { AuditEvent } from './audit-event.ts';

/** How the definitions in force differ from those before; nothing where they do not. */
export function skillChanges(before: readonly Skill[], now: readonly Skill[]): AuditEvent | undefined {
  const then = new Map(before.map((skill) => [skill.name, JSON.stringify(skill)]));
  const names = new Set(now.map(({ name }) => name));
  const added = now.filter(({ name }) => !then.has(name)).map(({ name }) => name);
  const removed = [...then.keys()].filter((name) => !names.has(name));
  const changed = now
    .filter((skill) => then.has(skill.name) && then.get(skill.name) !== JSON.stringify(skill))
    .map(({ name }) => name);
  if (added.length + removed.length + changed.length === 0) return undefined;
  return { event: 'skills_changed', added, removed, changed };
}
