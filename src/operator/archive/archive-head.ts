import { z } from 'zod';

export const archiveFormat = 1;

export const firstMember = 'backup.json';
/** The last member. It has the SHA-256 of every byte before it, which shows that an archive is complete. */
export const endMember = 'end.json';

/** Commands print it, so it is no text of any kind. */
const version = z.string().regex(/^[\w.+-]+$/);

export const newerHead = z.object({ format: z.number(), skillet: version });

export const archiveHead = z.object({
  format: z.literal(archiveFormat),
  /** The version of Skillet that made it. */
  skillet: version,
  at: z.iso.datetime(),
  /** Name of the config file; null if there was none. */
  config: z
    .string()
    .regex(/^(?!\.{1,2}$)[^/\p{Cc}]+$/u)
    .nullable(),
  store: z.enum(['copied', 'postgres', 'none']),
});

export type ArchiveHead = z.output<typeof archiveHead>;
