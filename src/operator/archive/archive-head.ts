import { z } from 'zod';

export const archiveFormat = 1;

export const firstMember = 'backup.json';
/** Holds the SHA-256 of every byte before it: with it an archive is whole. */
export const endMember = 'end.json';

export const archiveHead = z.object({
  format: z.literal(archiveFormat),
  /** The version that made it. */
  skillet: z.string(),
  at: z.iso.datetime(),
  /** Name of the config file. */
  config: z
    .string()
    .regex(/^(?!\.{1,2}$)[^/]+$/)
    .nullable(),
  store: z.enum(['copied', 'postgres', 'none']),
});

export type ArchiveHead = z.output<typeof archiveHead>;
