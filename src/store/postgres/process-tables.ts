/**
 * Who runs. `processes` is emptied by the server when it recovers from a crash, and then every queue is lost. `running`
 * says how many schema steps each process knows (Q15).
 */
export const processTables = `
  CREATE UNLOGGED TABLE skillet.processes (
    id bigint PRIMARY KEY,
    held jsonb NOT NULL,
    seen_at timestamptz NOT NULL
  );

  CREATE TABLE skillet.running (
    id bigint PRIMARY KEY,
    version text NOT NULL,
    knows integer NOT NULL,
    host text NOT NULL,
    pid integer NOT NULL,
    seen_at timestamptz NOT NULL
  );`;
