/** Table of routines: what is asked, when it is due, and how it went last (N1). */
export const routineTable = `
  CREATE TABLE skillet.routines (
    id text COLLATE "C" PRIMARY KEY,
    creator text NOT NULL COLLATE "C",
    conversation text NOT NULL COLLATE "C",
    state text NOT NULL CHECK (state IN ('active', 'paused', 'ended')),
    due_at bigint,
    failures integer NOT NULL DEFAULT 0, settled text NOT NULL DEFAULT '',
    definition text NOT NULL,
    last text,
    created_at bigint NOT NULL,
    changed_at bigint NOT NULL
  );
  CREATE INDEX routines_due ON skillet.routines (due_at) WHERE state = 'active';
  CREATE INDEX routines_creator ON skillet.routines (creator, created_at);
  CREATE INDEX routines_conversation ON skillet.routines (conversation);
  CREATE INDEX routines_made ON skillet.routines (created_at, id);
  CREATE INDEX routines_ended ON skillet.routines (changed_at) WHERE state = 'ended';`;
