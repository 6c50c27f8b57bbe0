import { z } from 'zod';
import { chatTypes, conversationKey, type Conversation, type SeenChatType } from '../core/conversation.ts';
import type { Message, Sender } from '../core/message.ts';
import { storedProvenance, type Provenance } from '../core/provenance.ts';
import type { Log } from '../lib/log.ts';
import { hasChanged, type Sql, type Steps } from './sql.ts';
import { NewerRow, readShared } from './newer-row.ts';
import { readStored, type FieldsOf } from './stored-json.ts';
import { storedConversation, storedSender } from './stored-message.ts';

/**
 * When a routine fires. `every` counts from `from`. `steps` means every `count` days or months of the calendar from the
 * day of `from`, at `clock` seconds after midnight (U20). Other times are milliseconds since 1970.
 */
export type RoutineTime = Readonly<
  | { kind: 'once'; at: number }
  | { kind: 'cron'; expression: string }
  | { kind: 'every'; ms: number; from: number }
  | { kind: 'steps'; unit: 'day' | 'month'; count: number; from: number; clock: number }
>;

/** What to do about missed firings (N5). `one`: a single one for all of them. `all`: each. `none`: nothing. */
export const catchUps = ['one', 'all', 'none'] as const;
export type CatchUp = (typeof catchUps)[number];

export type RoutineDefinition = Readonly<{
  name: string;
  when: RoutineTime;
  /** IANA name of the time zone in which `when` is meant. */
  timezone: string;
  /** `when` as written at `at`, to be read again once the creator's unknown time zone is known (U20). */
  assumed?: Readonly<{ when: string; at: number }>;
  /** What to do, in the creator's own words. */
  task: string;
  /** If set, the task is sent as it is, without a model. */
  reminder?: true;
  /** If set, a firing may end without a message because there is nothing to report (N6). */
  quiet?: true;
  catchUp: CatchUp;
  /** The skill that it runs. The routine stops if the skill is withdrawn (N3). */
  skill?: string;
  conversation: Conversation;
  /** `unknown` means that the type is looked up at each firing. */
  chatType: SeenChatType;
  external: boolean;
  creator: Sender;
  /** Whose words `task` and `name` are. Undefined: the operator's (S13). */
  from?: Provenance;
  /** Set if it comes from `[[routines]]`, so that chats can't change it. */
  fromConfig?: true;
  createdAt: number;
}>;

/** How a firing went. `stopped` means that its creator may no longer do this (N3). */
export type RoutineOutcome = Readonly<{
  /** Key of the message by which it fired. */
  key: string;
  due: number;
  at: number;
  how: 'answered' | 'quiet' | 'failed' | 'skipped' | 'stopped';
  /** Why it went so, or how many firings were skipped. */
  note?: string;
}>;

export type Routine = Readonly<{
  id: string;
  definition: RoutineDefinition;
  state: 'active' | 'paused' | 'ended';
  /** When it is due next; only set while it is active. */
  dueAt?: number;
  /** How many firings failed in a row. */
  failures: number;
  last?: RoutineOutcome;
}>;

/** A routine by its id, and how its due time moves. Without `moves` it fires by hand. */
type RoutineMove = Readonly<{
  id: string;
  moves?: Readonly<{ from: number; to: number | undefined }>;
}>;

/** Moves the due time and stores the message, or neither (N1). */
export type Firing = RoutineMove & Readonly<{ message: Message }>;

/** Stored routines. No turn reads this table, so sleeping routines cost nothing there. */
export type Routines = Readonly<{
  /** Adds a routine; a known id stays as it is. `full`: the creator has `most` that have not ended. */
  add(routine: Omit<Routine, 'failures' | 'last'>, most: number): Promise<'added' | 'known' | 'full'>;
  find(id: string): Promise<Routine | undefined>;
  /** All routines of a creator, oldest first, including ended ones. */
  of(creator: string): Promise<readonly Routine[]>;
  /** Routines in a chat and its threads. `conversation` is the key of the chat. */
  within(conversation: string): Promise<readonly Routine[]>;
  all(): Promise<readonly Routine[]>;
  /** Active routines that are due, the most overdue first. */
  due(now: number, most: number): Promise<readonly Routine[]>;
  nextDue(): Promise<number | undefined>;
  /** Changes a routine. A resumed one has no failures counted. False if there is none. */
  change(
    id: string,
    to: Readonly<{ definition: RoutineDefinition; state: Routine['state']; dueAt?: number | undefined }>,
  ): Promise<boolean>;
  /** Moves the due time without a firing. False if it was moved meanwhile. */
  skip(id: string, moves: NonNullable<Firing['moves']>, last: RoutineOutcome): Promise<boolean>;
  /** Stores how a firing went, once for each key. Returns the failures in a row; undefined if it is gone. */
  settle(id: string, last: RoutineOutcome): Promise<number | undefined>;
  /** Removes a routine and returns it as it was. */
  remove(id: string): Promise<Routine | undefined>;
  /** Removes all routines of a creator, and returns their ids. */
  removeOf(creator: string): Promise<readonly string[]>;
}>;

const time = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('once'), at: z.number() }),
  z.object({ kind: z.literal('cron'), expression: z.string() }),
  z.object({ kind: z.literal('every'), ms: z.number(), from: z.number() }),
  z.object({
    kind: z.literal('steps'),
    unit: z.enum(['day', 'month']),
    count: z.number().int().min(1),
    from: z.number(),
    clock: z.number(),
  }),
]);

const storedDefinition: z.ZodType<RoutineDefinition> = z.object({
  name: z.string(),
  when: time,
  timezone: z.string(),
  assumed: z.object({ when: z.string(), at: z.number() }).optional(),
  task: z.string(),
  reminder: z.literal(true).optional(),
  quiet: z.literal(true).optional(),
  catchUp: z.enum(catchUps),
  skill: z.string().optional(),
  conversation: storedConversation,
  chatType: z.enum([...chatTypes, 'unknown']),
  external: z.boolean(),
  creator: storedSender,
  from: storedProvenance.optional(),
  fromConfig: z.literal(true).optional(),
  createdAt: z.number(),
} satisfies FieldsOf<RoutineDefinition>);

const storedOutcome: z.ZodType<RoutineOutcome> = z.object({
  key: z.string(),
  due: z.number(),
  at: z.number(),
  how: z.enum(['answered', 'quiet', 'failed', 'skipped', 'stopped']),
  note: z.string().optional(),
} satisfies FieldsOf<RoutineOutcome>);

const columns = 'id, state, due_at, failures, definition, last';

type Row = Pick<Routine, 'id' | 'state' | 'failures'> &
  Readonly<{ due_at: number | null; definition: string; last: string | null }>;

/** Moves a routine's due time within a transaction. False if there is nothing to fire. */
export type MoveRoutine = (firing: RoutineMove, now: number) => Steps<boolean>;

export function createRoutineStore(
  sql: Sql,
  { now, log }: Readonly<{ now(): number; log: Log }>,
): Readonly<{ routines: Routines; move: MoveRoutine }> {
  const { read, write } = sql;
  const select = (rest: string) => sql.statement<Row>(`SELECT ${columns} FROM routines ${rest}`);
  const one = select('WHERE id = ?1');
  const ofCreator = select('WHERE creator = ?1 ORDER BY created_at, id');
  const inChat = select(
    'WHERE conversation = ?1 OR conversation > ?2 AND conversation < ?3 ORDER BY created_at, id',
  );
  const every = select('WHERE created_at > 0 ORDER BY created_at, id');
  const due = select(`WHERE state = 'active' AND due_at <= ?1 ORDER BY due_at LIMIT ?2`);
  const next = sql.statement<Readonly<{ at: number | null }>>(
    `SELECT MIN(due_at) AS at FROM routines WHERE state = 'active' AND due_at > 0`,
  );
  const insert = sql.statement(
    `INSERT INTO routines (id, creator, conversation, state, due_at, definition, created_at, changed_at)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)`,
  );
  const held = sql.statement(
    `SELECT 1 FROM routines WHERE creator = ?1 AND state <> 'ended' LIMIT CAST(?2 AS INTEGER)`,
  );
  const change = sql.statement(
    `UPDATE routines SET failures = CASE WHEN ?2 = 'active' AND state <> ?2 THEN 0 ELSE failures END, state = ?2, due_at = ?3,
       definition = ?4, conversation = ?5, changed_at = ?6 WHERE id = ?1`,
  );
  const moved = sql.statement(
    `UPDATE routines SET due_at = ?3, state = ?4, changed_at = ?5 WHERE id = ?1 AND state = 'active' AND due_at = ?2`,
  );
  const note = sql.statement('UPDATE routines SET last = ?2 WHERE id = ?1');
  const locked = sql.statement(`SELECT 1 FROM routines WHERE id = ?1 ${sql.dialect.forUpdate}`);
  const settle = sql.statement(
    `UPDATE routines SET last = ?2, settled = ?3, failures = CASE WHEN ?4 = 'failed' THEN failures + 1 ELSE 0 END
     WHERE id = ?1 AND settled <> ?3`,
  );
  const remove = sql.statement<Row>(`DELETE FROM routines WHERE id = ?1 RETURNING ${columns}`);
  const removeOf = sql.statement<Readonly<{ id: string }>>(
    'DELETE FROM routines WHERE creator = ?1 RETURNING id',
  );
  const routinesIn = async (rows: readonly Row[]): Promise<readonly Routine[]> =>
    (await Promise.all(rows.map((row) => toRoutine(row, sql, log)))).flat();
  /** Leaves out what a newer version set up, which a process of that version will fire (Q15). */
  const known = async (rows: readonly Row[]): Promise<readonly Routine[]> =>
    (
      await Promise.all(
        rows.map((row) =>
          routinesIn([row]).catch((error: unknown) => {
            if (error instanceof NewerRow) return [];
            throw error;
          }),
        ),
      )
    ).flat();

  function* add(
    { id, state, dueAt, definition }: Omit<Routine, 'failures' | 'last'>,
    most: number,
  ): Steps<'added' | 'known' | 'full'> {
    if ((yield* one(id)).rows.length > 0) return 'known';
    const { creator, conversation, createdAt } = definition;
    if ((yield* held(creator.id, most)).rows.length >= most) return 'full';
    const place = conversationKey(conversation);
    const text = JSON.stringify(definition);
    yield* insert(id, creator.id, place, state, dueAt ?? null, text, createdAt, now());
    return 'added';
  }

  function* move({ id, moves }: RoutineMove, at: number): Steps<boolean> {
    if (moves === undefined) return (yield* locked(id)).rows.length > 0;
    const { from, to } = moves;
    return hasChanged(yield* moved(id, from, to ?? null, to === undefined ? 'ended' : 'active', at));
  }

  function* skip(id: string, moves: Firing['moves'], last: RoutineOutcome): Steps<boolean> {
    if (!(yield* move({ id, moves }, now()))) return false;
    yield* note(id, JSON.stringify(last));
    return true;
  }

  function* settleOnce(id: string, last: RoutineOutcome): Steps<number | undefined> {
    yield* settle(id, JSON.stringify(last), last.key, last.how);
    return (yield* one(id)).rows[0]?.failures;
  }

  return {
    move,
    routines: {
      add: (routine, most) =>
        write('server', add(routine, most), [`routines ${routine.definition.creator.id}`]),
      find: async (id) => (await routinesIn(await read(one(id))))[0],
      of: async (creator) => routinesIn(await read(ofCreator(creator))),
      // In text order, "0" comes right after "/".
      within: async (chat) => routinesIn(await read(inChat(chat, `${chat}/`, `${chat}0`))),
      all: async () => known(await read(every())),
      due: async (at, most) => known(await read(due(at, most))),
      nextDue: async () => (await read(next()))[0]?.at ?? undefined,
      async change(id, { definition, state, dueAt }) {
        const place = conversationKey(definition.conversation);
        const text = JSON.stringify(definition);
        return hasChanged(await write('server', change(id, state, dueAt ?? null, text, place, now())));
      },
      skip: (id, moves, last) => write('server', skip(id, moves, last)),
      settle: (id, last) => write('server', settleOnce(id, last)),
      remove: async (id) => (await known((await write('server', remove(id))).rows))[0],
      removeOf: async (creator) => (await write('server', removeOf(creator))).rows.map(({ id }) => id),
    },
  };
}

/** Reads a routine. A damaged one is logged and counts as missing (Q11). Throws NewerRow for one of a newer version. */
async function toRoutine(
  { id, state, due_at, failures, definition, last }: Row,
  sql: Sql,
  log: Log,
): Promise<readonly Routine[]> {
  const read = await readShared(sql, storedDefinition, definition);
  if (!read.ok) {
    log.error({ routine: id, reason: read.reason }, 'a stored routine is damaged and counts as missing');
    return [];
  }
  const outcome = last === null ? undefined : readStored(storedOutcome, last);
  return [
    {
      id,
      definition: { ...read.value, from: originOf(read.value) },
      state,
      dueAt: due_at ?? undefined,
      failures,
      last: outcome?.ok === true ? outcome.value : undefined,
    },
  ];
}

/** Whose words a routine's task is. One that was set up before origins were kept counts as nobody's own words (S13). */
function originOf({ from, fromConfig }: RoutineDefinition): RoutineDefinition['from'] {
  return from ?? (fromConfig === true ? undefined : { words: 'unknown' });
}
