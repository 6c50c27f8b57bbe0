/** Table of thumbs under answers, and the index by which a message of the bot is found (U17). */
export const feedbackTable = `
  CREATE TABLE skillet.feedback (
    id text COLLATE "C" PRIMARY KEY,
    sender text NOT NULL COLLATE "C",
    thumb text NOT NULL CHECK (thumb IN ('up', 'down')),
    at bigint NOT NULL,
    reason text,
    about text
  );
  CREATE INDEX feedback_sender ON skillet.feedback (sender);
  CREATE INDEX feedback_at ON skillet.feedback (at, id);
  CREATE INDEX outbox_receipts ON skillet.outbox (receipt, queue) WHERE receipt IS NOT NULL;`;
