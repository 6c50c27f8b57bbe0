import { z } from 'zod';
import { personId } from './id.ts';
import { place } from './hook-sections.ts';
import { section, zone, type Complain } from './section.ts';

/** One `[[routines]]`: what the operator wants done at set times (N2). `when` is read as in chats. */
export const routine = section({
  name: z.string().regex(/^[a-z0-9][a-z0-9-]{0,39}$/, {
    error: 'a name of a routine has lower-case letters, digits and -',
  }),
  when: z.string().min(1).max(100),
  timezone: zone.optional(),
  task: z.string().min(1).max(2_000),
  as: personId,
  conversation: place,
  reminder: z.boolean().default(false),
  quiet: z.boolean().default(false),
  catch_up: z.enum(['one', 'all', 'none']).default('one'),
  skill: z.string().min(1).optional(),
});

export function checkRoutineNames(table: Readonly<Record<string, unknown>>, complain: Complain): void {
  const { routines } = table;
  if (!Array.isArray(routines)) return;
  const names = routines.map((each: unknown) => (each as Readonly<{ name?: unknown }> | null)?.name);
  for (const [index, name] of names.entries())
    if (typeof name === 'string' && names.indexOf(name) < index)
      complain(['routines', index, 'name'], 'another routine has this name: write another one');
}
