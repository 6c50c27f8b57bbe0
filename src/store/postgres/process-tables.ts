/** Emptied by the server when it recovers from a crash: every lane is lost then. */
export const processTable = `CREATE UNLOGGED TABLE skillet.processes (
  id bigint PRIMARY KEY,
  held jsonb NOT NULL,
  seen_at timestamptz NOT NULL
);`;

/** Who runs, and how many schema steps each knows. "readable_from": a process that knows fewer can't use this database (Q15). */
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
