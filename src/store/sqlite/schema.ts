/** The steps of the schema, one for each version. Never edit a released step; add one. */
export const sqliteSchema: readonly string[] = [
  `CREATE TABLE inbox (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL,
    queue TEXT NOT NULL,
    parts TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('waiting', 'done', 'dead')),
    tries INTEGER NOT NULL DEFAULT 0,
    error TEXT,
    join_key TEXT,
    due_at INTEGER NOT NULL,
    accepted_at INTEGER NOT NULL,
    was_taken INTEGER NOT NULL DEFAULT 0,
    taken_at INTEGER,
    stopped_at INTEGER,
    finished_at INTEGER,
    round INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE INDEX inbox_queues ON inbox (queue, seq, due_at) WHERE status = 'waiting';
  CREATE INDEX inbox_waiting ON inbox (round, seq, queue, due_at) WHERE status = 'waiting';
  CREATE INDEX inbox_due ON inbox (due_at) WHERE status = 'waiting';
  CREATE INDEX inbox_beside ON inbox (round, seq, queue, due_at) WHERE status = 'waiting' AND instr(queue, '~') > 0;
  CREATE INDEX inbox_dead ON inbox (seq) WHERE status = 'dead';
  CREATE INDEX inbox_dead_since ON inbox (accepted_at) WHERE status = 'dead';
  CREATE INDEX inbox_done ON inbox (finished_at) WHERE status = 'done';
  CREATE INDEX inbox_joinable ON inbox (join_key) WHERE join_key IS NOT NULL;

  CREATE TABLE inbox_keys (
    key TEXT PRIMARY KEY,
    item INTEGER NOT NULL REFERENCES inbox (seq) ON DELETE CASCADE
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX inbox_keys_item ON inbox_keys (item);

  CREATE TABLE outbox (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL UNIQUE,
    queue TEXT NOT NULL,
    conversation TEXT NOT NULL,
    part TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('waiting', 'sending', 'sent', 'dead')),
    tries INTEGER NOT NULL DEFAULT 0,
    repeats INTEGER NOT NULL DEFAULT 0,
    error TEXT,
    receipt TEXT,
    due_at INTEGER NOT NULL,
    finished_at INTEGER
  ) STRICT;
  CREATE INDEX outbox_queues ON outbox (queue, seq, due_at) WHERE finished_at IS NULL;
  CREATE INDEX outbox_finished ON outbox (finished_at) WHERE finished_at IS NOT NULL;
  CREATE INDEX outbox_dead ON outbox (seq) WHERE status = 'dead';

  CREATE TABLE transcripts (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    conversation TEXT NOT NULL
  ) STRICT;
  CREATE INDEX transcripts_conversation ON transcripts (conversation, seq);

  CREATE TABLE entries (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    transcript TEXT NOT NULL,
    kind TEXT NOT NULL,
    entry TEXT NOT NULL
  ) STRICT;
  CREATE INDEX entries_transcript ON entries (transcript, seq);
  CREATE INDEX entries_answers ON entries (transcript) WHERE kind = 'assistant';
  CREATE INDEX entries_summaries ON entries (transcript, seq) WHERE kind = 'summary';

  CREATE TABLE group_context (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL UNIQUE,
    conversation TEXT NOT NULL,
    message TEXT NOT NULL,
    heard_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX group_context_conversation ON group_context (conversation, seq);
  CREATE INDEX group_context_heard ON group_context (heard_at);

  CREATE TABLE keyed (
    namespace TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    expires_at INTEGER,
    PRIMARY KEY (namespace, key)
  ) STRICT;
  CREATE INDEX keyed_expiring ON keyed (expires_at) WHERE expires_at IS NOT NULL;

  CREATE TABLE pending_requests (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL CHECK (kind IN ('approval', 'question')),
    conversation TEXT NOT NULL,
    requester TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('open', 'answered', 'expired', 'cancelled')),
    expires_at INTEGER NOT NULL,
    request TEXT NOT NULL,
    settled_at INTEGER
  ) STRICT;
  CREATE INDEX pending_requests_open ON pending_requests (conversation, seq) WHERE state = 'open';
  CREATE INDEX pending_requests_expiring ON pending_requests (expires_at) WHERE state = 'open';
  CREATE INDEX pending_requests_settled ON pending_requests (settled_at) WHERE settled_at IS NOT NULL;

  CREATE TABLE usage (
    day TEXT NOT NULL,
    sender TEXT NOT NULL,
    conversation TEXT NOT NULL,
    skill TEXT NOT NULL,
    model TEXT NOT NULL,
    requests INTEGER NOT NULL,
    input INTEGER NOT NULL,
    output INTEGER NOT NULL,
    cache_read INTEGER NOT NULL,
    cache_write INTEGER NOT NULL,
    PRIMARY KEY (day, sender, conversation, skill, model)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX usage_sender ON usage (sender, day);

  CREATE TABLE shown (
    key TEXT PRIMARY KEY,
    receipt TEXT NOT NULL,
    shown_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX shown_at ON shown (shown_at);

  CREATE TABLE transcript_times (
    transcript TEXT PRIMARY KEY,
    last_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX transcript_times_last ON transcript_times (last_at);

  CREATE TABLE uses (
    key TEXT NOT NULL,
    id TEXT NOT NULL,
    used_at INTEGER NOT NULL,
    PRIMARY KEY (key, id)
  ) STRICT;
  CREATE INDEX uses_newest ON uses (key, used_at);
  CREATE INDEX uses_oldest ON uses (used_at);

  CREATE TABLE capability_key (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    check_value TEXT NOT NULL
  ) STRICT;

  CREATE TABLE capability_accounts (
    sender TEXT NOT NULL,
    capability TEXT NOT NULL,
    name TEXT NOT NULL,
    sealed TEXT NOT NULL,
    linked_at INTEGER NOT NULL,
    PRIMARY KEY (sender, capability, name)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE capability_flows (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    sender TEXT NOT NULL,
    capability TEXT NOT NULL,
    conversation TEXT NOT NULL,
    state TEXT NOT NULL,
    sealed TEXT NOT NULL,
    due_at INTEGER,
    expires_at INTEGER NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX capability_flows_open ON capability_flows (sender, capability) WHERE state IN ('pending', 'submitted');
  CREATE INDEX capability_flows_sender ON capability_flows (sender, seq);
  CREATE INDEX capability_flows_due ON capability_flows (due_at) WHERE due_at IS NOT NULL;
  CREATE INDEX capability_flows_over ON capability_flows (expires_at);

  CREATE TABLE capability_outcomes (
    key TEXT PRIMARY KEY,
    sender TEXT NOT NULL,
    sealed TEXT NOT NULL,
    kept_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX capability_outcomes_sender ON capability_outcomes (sender);
  CREATE INDEX capability_outcomes_kept ON capability_outcomes (kept_at);

  CREATE TABLE routines (
    id TEXT PRIMARY KEY,
    creator TEXT NOT NULL,
    conversation TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('active', 'paused', 'ended')),
    due_at INTEGER,
    failures INTEGER NOT NULL DEFAULT 0,
    settled TEXT NOT NULL DEFAULT '',
    definition TEXT NOT NULL,
    last TEXT,
    created_at INTEGER NOT NULL,
    changed_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX routines_due ON routines (due_at) WHERE state = 'active';
  CREATE INDEX routines_creator ON routines (creator, created_at);
  CREATE INDEX routines_conversation ON routines (conversation);
  CREATE INDEX routines_made ON routines (created_at, id);
  CREATE INDEX routines_ended ON routines (changed_at) WHERE state = 'ended';

  CREATE TABLE memories (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    holder TEXT NOT NULL,
    author TEXT NOT NULL,
    memory TEXT NOT NULL,
    at INTEGER NOT NULL,
    uses INTEGER NOT NULL DEFAULT 0,
    seen_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX memories_holder ON memories (holder);
  CREATE INDEX memories_author ON memories (author);
  CREATE INDEX memories_seen ON memories (seen_at);

  CREATE TABLE said (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    holder TEXT NOT NULL,
    transcript TEXT NOT NULL,
    asker TEXT NOT NULL,
    said TEXT NOT NULL,
    words TEXT NOT NULL
  ) STRICT;
  CREATE INDEX said_transcript ON said (transcript);
  CREATE INDEX said_asker ON said (asker);

  -- Words are cut and folded before they are stored, so every character between spaces belongs to one.
  CREATE VIRTUAL TABLE said_words USING fts5 (words, content='said', content_rowid='seq', detail=none, tokenize='ascii');
  INSERT INTO said_words (said_words, rank) VALUES ('secure-delete', 1);

  CREATE TABLE said_indexed (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    up_to INTEGER NOT NULL
  ) STRICT;
  INSERT INTO said_indexed (one, up_to) VALUES (1, 0);
  CREATE TRIGGER said_added AFTER INSERT ON said
  WHEN new.seq >= (SELECT up_to FROM said_indexed WHERE one = 1) + 64 BEGIN
    INSERT INTO said_words (rowid, words)
      SELECT seq, words FROM said WHERE seq > (SELECT up_to FROM said_indexed WHERE one = 1);
    UPDATE said_indexed SET up_to = new.seq WHERE one = 1;
  END;
  CREATE TRIGGER said_removed AFTER DELETE ON said
  WHEN old.seq <= (SELECT up_to FROM said_indexed WHERE one = 1) BEGIN
    INSERT INTO said_words (said_words, rowid, words) VALUES ('delete', old.seq, old.words);
  END;

  CREATE TABLE runs (
    id TEXT PRIMARY KEY,
    day TEXT NOT NULL,
    sender TEXT NOT NULL,
    conversation TEXT NOT NULL,
    skill TEXT NOT NULL,
    model TEXT NOT NULL,
    steps INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX runs_day ON runs (day);
  CREATE INDEX runs_sender ON runs (sender);`,
  `CREATE TABLE feedback (
    id TEXT PRIMARY KEY,
    sender TEXT NOT NULL,
    thumb TEXT NOT NULL CHECK (thumb IN ('up', 'down')),
    at INTEGER NOT NULL,
    reason TEXT,
    about TEXT
  ) STRICT;
  CREATE INDEX feedback_sender ON feedback (sender);
  CREATE INDEX feedback_at ON feedback (at, id);
  CREATE INDEX outbox_receipts ON outbox (receipt, queue) WHERE receipt IS NOT NULL`,
];
