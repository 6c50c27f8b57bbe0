import { z } from 'zod';

export const archiveFormat = 1;

export const firstMember = 'backup.json';
/** The last member. It has the SHA-256 of every byte before it, which shows that an archive is complete. */
export const endMember = 'end.json';

export const archiveHead = z.object({
  format: z.literal(archiveFormat),
  /** The version of Skillet that made it. */
  skillet: z.string(),
  at: z.iso.datetime(),
  /** Name of the config file; null if there was none. */
  config: z
    .string()
    .regex(/^(?!\.{1,2}$)[^/]+$/)
    .nullable(),
  store: z.enum(['copied', 'postgres', 'none']),
});

export type ArchiveHead = z.output<typeof archiveHead>;
