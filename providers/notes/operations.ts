import { z } from 'zod';
import type { Storage } from './open-storage.ts';
import { Refusal } from './refusal.ts';

/** Whose notebook an operation works on: the user is the token's, never an input's. */
export type Book = Readonly<{ storage: Storage; user: string; notebook: string; now: number }>;

/** One operation of `notes.book`. */
export type Operation = Readonly<{
  description: string;
  mutating: boolean;
  input: z.ZodType;
  output: z.ZodType;
  /** Throws a Refusal where the input or the notebook does not allow it. */
  run(book: Book, input: unknown): unknown;
}>;

const id = z.int().min(1).describe('number of a note');
const text = z.string().min(1).max(20_000).describe('what the note says');
const limit = z.int().min(1).max(200).default(50).describe('how many at most, newest first');
const note = z.strictObject({ id, text: z.string(), changed_at: z.iso.datetime() });
const beginnings = z.strictObject({
  notes: z.array(z.strictObject({ id, begins: z.string(), changed_at: z.iso.datetime() })),
  total: z.int().min(0),
});

/** All operations of `notes.book`, by name. Each looks only at notes of its user and notebook. */
export const operations: Readonly<Record<string, Operation>> = {
  list: operation({
    description: 'The newest notes of the notebook, each with its number and how it begins.',
    mutating: false,
    input: z.strictObject({ limit }),
    output: beginnings,
    run: (book, input) => find(book, '', input.limit),
  }),
  search: operation({
    description: 'The newest notes that contain a text, upper and lower case alike.',
    mutating: false,
    input: z.strictObject({ query: z.string().min(1).max(200), limit }),
    output: beginnings,
    run: (book, input) => find(book, input.query, input.limit),
  }),
  read: operation({
    description: 'One whole note.',
    mutating: false,
    input: z.strictObject({ id }),
    output: note,
    run: (book, input) => shown(one(book, input.id)),
  }),
  add: operation({
    description: 'Adds a note.',
    mutating: true,
    input: z.strictObject({ text }),
    output: note,
    run({ storage, user, notebook, now }, input) {
      const added = storage.run(
        'INSERT INTO notes (user, notebook, text, changed) VALUES (?, ?, ?, ?)',
        ...[user, notebook, input.text, now],
      );
      return shown({ id: added.id, text: input.text, changed: now });
    },
  }),
  edit: operation({
    description: 'Replaces the text of a note.',
    mutating: true,
    input: z.strictObject({ id, text }),
    output: note,
    run(book, input) {
      one(book, input.id);
      book.storage.run('UPDATE notes SET text = ?, changed = ? WHERE id = ?', input.text, book.now, input.id);
      return shown({ id: input.id, text: input.text, changed: book.now });
    },
  }),
  remove: operation({
    description: 'Removes a note for good; answers with what it said.',
    mutating: true,
    input: z.strictObject({ id }),
    output: note,
    run(book, input) {
      const removed = one(book, input.id);
      book.storage.run('DELETE FROM notes WHERE id = ?', input.id);
      return shown(removed);
    },
  }),
};

type Note = Readonly<{ id: number; text: string; changed: number }>;

/** Checks the input against the same schema that the definitions show. */
function operation<Input extends z.ZodType>(
  definition: Readonly<{
    description: string;
    mutating: boolean;
    input: Input;
    output: z.ZodType;
    run(book: Book, input: z.output<Input>): unknown;
  }>,
): Operation {
  return {
    ...definition,
    run(book, input) {
      const parsed = definition.input.safeParse(input);
      if (!parsed.success) throw new Refusal('capability_invalid_input', z.prettifyError(parsed.error));
      return definition.run(book, parsed.data);
    },
  };
}

function one({ storage, user, notebook }: Book, wanted: number): Note {
  const row = storage.get(
    'SELECT id, text, changed FROM notes WHERE id = ? AND user = ? AND notebook = ?',
    ...[wanted, user, notebook],
  );
  if (row === undefined)
    throw new Refusal('capability_invalid_input', `there is no note ${wanted} in this notebook`);
  return row as Note;
}

function find({ storage, user, notebook }: Book, query: string, most: number): z.output<typeof beginnings> {
  const where = "FROM notes WHERE user = ? AND notebook = ? AND text LIKE ? ESCAPE '\\'";
  const of = [user, notebook, `%${query.replaceAll(/[\\%_]/g, '\\$&')}%`] as const;
  const rows = storage.all(`SELECT id, text, changed ${where} ORDER BY id DESC LIMIT ?`, ...of, most);
  const { total } = storage.get(`SELECT count(*) AS total ${where}`, ...of) as { total: number };
  const notes = (rows as readonly Note[]).map((each) => ({
    id: each.id,
    begins: beginning(each.text),
    changed_at: new Date(each.changed).toISOString(),
  }));
  return { notes, total };
}

function beginning(whole: string): string {
  const line = [...(whole.trim().split('\n')[0] ?? '')];
  return line.length <= 80 ? line.join('') : `${line.slice(0, 79).join('')}…`;
}

function shown({ id, text, changed }: Note): z.output<typeof note> {
  return { id, text, changed_at: new Date(changed).toISOString() };
}
