/** What the archive of a person has of a place in which a bot keeps something. */
type PersonPlace = Readonly<
  | {
      /** The file or folder of the archive. */
      in: string;
    }
  | {
      /** Why nothing of it is in the archive. */
      not: string;
    }
>;

const counts = 'no person is named in it';
const derived = 'the same words are in conversations.jsonl';
const ofBot = 'it is about the bot, its skills or its servers';
const ofQueues = 'ids and times of work, without words; removed with it';

/**
 * Every place in which a bot keeps something, and what `skillet export` has of it: tables of the store (with those that
 * only PostgreSQL has), `keyed NAMESPACE` for values by keys, `folder GROUP` of the workspace, `data NAME` of the data
 * directory. A test fails if a place has no row here (L18).
 */
export const personPlaces: Readonly<Record<string, PersonPlace>> = {
  entries: { in: 'conversations.jsonl' },
  inbox: { in: 'messages.jsonl' },
  group_context: { in: 'heard.jsonl' },
  outbox: { in: 'answers.jsonl' },
  pending_requests: { in: 'questions.jsonl' },
  memories: { in: 'notes.jsonl' },
  routines: { in: 'routines.jsonl' },
  feedback: { in: 'feedback.jsonl' },
  usage: { in: 'usage.jsonl' },
  runs: { in: 'usage.jsonl' },
  uses: { in: 'usage.jsonl' },
  capability_accounts: { in: 'accounts.jsonl' },
  capability_flows: { in: 'accounts.jsonl' },
  capability_outcomes: { in: 'accounts.jsonl' },
  keyed: { in: 'values.jsonl' },

  inbox_keys: { not: ofQueues },
  transcripts: { not: ofQueues },
  transcript_times: { not: ofQueues },
  shown: { not: ofQueues },
  said: { not: derived },
  said_words: { not: derived },
  said_indexed: { not: derived },
  capability_key: { not: ofBot },
  health: { not: ofBot },
  limits: { not: counts },
  processes: { not: ofBot },
  running: { not: ofBot },
  epoch: { not: ofBot },
  schema_version: { not: ofBot },
  folders: { in: 'files' },
  files: { in: 'files' },
  chunks: { in: 'files' },
  file_chunks: { in: 'files' },

  'keyed allowances': { in: 'values.jsonl' },
  'keyed approval-details': { in: 'values.jsonl' },
  'keyed audit': { not: ofBot },
  'keyed audit-base': { not: ofBot },
  'keyed audit-names': { in: 'audit.jsonl' },
  'keyed budget-warnings': { in: 'values.jsonl' },
  'keyed commands': { in: 'values.jsonl' },
  'keyed deaths': { in: 'values.jsonl' },
  'keyed early-thumbs': { in: 'values.jsonl' },
  'keyed feedback-asked': { in: 'values.jsonl' },
  'keyed first-words': { in: 'values.jsonl' },
  'keyed groups': { in: 'values.jsonl' },
  'keyed health': { not: ofBot },
  'keyed holds': { not: 'a legal hold is a record of the operator' },
  'keyed hold-texts': { not: 'a legal hold is a record of the operator' },
  'keyed hooks': { not: ofBot },
  'keyed mcp': { not: ofBot },
  'keyed moved': { not: 'it has ids of chats alone' },
  'keyed notices': { not: ofBot },
  'keyed pairing': { in: 'values.jsonl' },
  'keyed people': { in: 'values.jsonl' },
  'keyed server-sign-ins': { in: 'values.jsonl' },
  'keyed setting-entries': { in: 'values.jsonl' },
  'keyed shown-words': { in: 'values.jsonl' },
  'keyed skill-askers': { in: 'values.jsonl' },
  'keyed sources': { not: ofBot },
  'keyed standing-rules': { in: 'values.jsonl' },
  'keyed thread-partners': { in: 'values.jsonl' },
  'keyed threads': { in: 'values.jsonl' },
  'keyed tool-settings': { in: 'values.jsonl' },
  'keyed waiting-parts': { in: 'values.jsonl' },
  'keyed written-skills': { in: 'values.jsonl' },

  'folder chats': { in: 'files' },
  'folder received': { in: 'files' },
  'folder outgoing': { in: 'files' },
  'folder runs': { not: 'scratch of work that runs, gone when it ends' },
  'folder skills': { not: ofBot },

  'data audit': { in: 'audit.jsonl' },
  'data bundle-data': { not: 'what servers of bundles keep, which the bot does not read' },
  'data audit.key': { not: ofBot },
  'data capabilities.key': { not: ofBot },
  'data installed': { not: ofBot },
  'data skills.lock.toml': { not: ofBot },
  'data store': { not: 'its tables have rows of their own' },
};

/** Namespaces of values by keys whose rows may be a person's. */
export const personNamespaces: readonly string[] = Object.entries(personPlaces).flatMap(([name, place]) =>
  name.startsWith('keyed ') && 'in' in place && place.in === 'values.jsonl'
    ? [name.slice('keyed '.length)]
    : [],
);
