import { z } from 'zod';
import { listenAddress, section } from './section.ts';
import { ownerId } from './id.ts';
import { isZone } from '../core/local-time.ts';
import { languages } from '../core/texts/say.ts';

/** `[bot]`. Folders are relative to the config file. */
export const botSection = section({
  name: z.string().min(1).default('Skillet'),
  language: z.enum(['auto', 'en', ...languages]).default('auto'),
  timezone: z.string().refine(isZone, { error: 'write a zone such as "Europe/Zurich" or "UTC"' }).optional(),
  owner: z.array(ownerId).default([]),
  data_dir: z.string().min(1).default('./data'),
  workspace: z.string().min(1).default('./workspace'),
  shutdown_seconds: z.int().min(1).default(20),
  retention_days: z.int().min(1).default(90),
});

function limits(runs: number, hourly: number, tokens: number, dollars: number) {
  return {
    concurrent_runs: z.int().min(0).default(runs),
    runs_per_hour: z.int().min(0).default(hourly),
    tokens_per_day: z.int().min(0).default(tokens),
    usd_per_day: z.number().min(0).default(dollars),
  };
}

/** `[limits]`: for each sender, each chat, each skill and everything together (U10); 0 is no limit. */
export const limitsSection = section({
  ...limits(3, 120, 2_000_000, 10),
  chat: section(limits(6, 300, 5_000_000, 25)).prefault({}),
  skill: section(limits(12, 600, 10_000_000, 50)).prefault({}),
  global: section(limits(24, 1200, 20_000_000, 100)).prefault({}),
});

/** `[store]`: without a url an SQLite file in the data directory (Q8). */
export const storeSection = section({
  url: z
    .string()
    .regex(/^(sqlite:.+|postgres(ql)?:\/\/.+)$/, {
      error: 'write "sqlite:./data/skillet.db" or "postgres://user@host/name"',
    })
    .optional(),
});

/** `[server]`: health and metrics, off without an address (L4). */
export const serverSection = section({ listen: listenAddress.optional() });

/** `[log]`: without a format pretty on a terminal, else JSON (L5). */
export const logSection = section({
  level: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  format: z.enum(['pretty', 'json']).optional(),
});

/** `[audit]` (L6). */
export const auditSection = section({ arguments: z.boolean().default(false) });
