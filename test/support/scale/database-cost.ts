import { processorMs } from '../lean/process-cost.ts';
import type { PostgresServer } from '../postgres.ts';

/** What the database did: statements it ran and processor time it took. */
export type DatabaseCost = Readonly<{
  /** Counts from now on. */
  reset(): Promise<void>;
  /** Notes the processor time of this moment. */
  sample(): Promise<void>;
  /** Milliseconds since `reset`, up to the last sample. */
  processorMs(): number;
  /** Statements since `reset`, dearest first; nothing where the server can't count them. */
  statements(): Promise<readonly Statement[]>;
}>;

/** `ms`: carrying it out, waiting included; `planMs`: planning it. */
export type Statement = Readonly<{ calls: number; ms: number; planMs: number; query: string }>;

/** Restarts the server with `pg_stat_statements` where it has that; `counting: false` leaves it as it is, and counts no statements. */
export async function createDatabaseCost(
  server: PostgresServer,
  url: string,
  { counting = true } = {},
): Promise<DatabaseCost> {
  const known = await server.run(
    url,
    `SELECT 1 FROM pg_available_extensions WHERE name = 'pg_stat_statements'`,
  );
  const counts = counting && known.length > 0;
  if (counts) {
    await server.run(url, `ALTER SYSTEM SET shared_preload_libraries = 'pg_stat_statements'`);
    await server.stop('fast');
    await server.start();
    await server.run(url, 'ALTER SYSTEM SET pg_stat_statements.track_planning = on');
    await server.run(url, 'SELECT pg_reload_conf()');
    await server.run(url, 'CREATE EXTENSION pg_stat_statements');
  }
  /** By the server's process id: it may be started anew. */
  const first = new Map<number, number>();
  const last = new Map<number, number>();

  async function sample(): Promise<number | undefined> {
    const rows = await server.run(url, `SELECT pg_read_file('postmaster.pid') AS text`).catch(() => []);
    const pid = Number.parseInt(String(rows[0]?.['text']), 10);
    if (Number.isNaN(pid)) return undefined;
    last.set(pid, await processorMs(pid, { tree: true }));
    return pid;
  }

  return {
    async reset() {
      const pid = await sample();
      last.forEach((ms, each) => first.set(each, each === pid ? ms : (first.get(each) ?? 0)));
      if (counts) await server.run(url, 'SELECT pg_stat_statements_reset()');
    },
    sample: async () => void (await sample()),
    processorMs: () => [...last].reduce((sum, [pid, ms]) => sum + ms - (first.get(pid) ?? 0), 0),
    async statements() {
      if (!counts) return [];
      const rows = await server.run(
        url,
        `SELECT calls, total_exec_time AS ms, total_plan_time AS plan, regexp_replace(query, '\\s+', ' ', 'g') AS query
         FROM pg_stat_statements ORDER BY total_exec_time + total_plan_time DESC`,
      );
      return rows.map(({ calls, ms, plan, query }) => ({
        calls: Number(calls),
        ms: Number(ms),
        planMs: Number(plan),
        query: String(query),
      }));
    },
  };
}
