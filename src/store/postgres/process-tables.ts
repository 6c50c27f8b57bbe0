/** Lists running processes. The server empties it when it recovers from a crash, and then every queue is lost. */
export const processTable = `CREATE UNLOGGED TABLE skillet.processes (
  id bigint PRIMARY KEY,
  held jsonb NOT NULL,
  seen_at timestamptz NOT NULL
);`;

/**
 * Lists who runs and how many schema steps each process knows. A process that knows fewer than "readable_from" can't
 * use the database (Q15).
 */
export const sharedVersions = `
  ALTER TABLE skillet.version ADD COLUMN readable_from integer NOT NULL DEFAULT 9;
  CREATE TABLE skillet.running (
    id bigint PRIMARY KEY,
    version text NOT NULL,
    knows integer NOT NULL,
    host text NOT NULL,
    pid integer NOT NULL,
    seen_at timestamptz NOT NULL
  );`;
