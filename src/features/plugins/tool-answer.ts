import { z } from 'zod';
import { fail, succeed, type Envelope } from '../../core/envelope.ts';
import type { Artifact, ToolContext } from '../../core/tool.ts';

/** Limits of one answer. A model is shown much less. */
const mostValues = 100_000;
const mostCharacters = 10_000_000;

/**
 * Turns the result of `run` into an envelope (X5): text or JSON, and files in their order. Stops at the first file that
 * can't be sent. Throws if the result is invalid.
 */
export async function answerOf(
  tool: string,
  answer: unknown,
  output: z.ZodType | undefined,
  deliverArtifacts: ToolContext['artifacts'],
): Promise<Envelope> {
  const { artifacts, data, isMarked } = partsOf(tool, answer);
  const checked = dataOf(tool, data, output);
  // The file has the content, so the model need not.
  const told = isMarked === true ? withoutContent(checked) : checked;
  const last = artifacts.length === 0 ? undefined : (await deliverArtifacts(artifacts)).at(-1);
  if (last?.ok === false) return fail(last.code, last.problem);
  if (told !== undefined && told !== '') return succeed(told);
  return succeed(artifacts.length === 0 ? 'Done; it gave no answer.' : 'Done.');
}

function partsOf(
  tool: string,
  answer: unknown,
): Readonly<{ artifacts: readonly Artifact[]; data?: unknown; isMarked?: boolean }> {
  const marked = markedArtifact.safeParse(answer);
  if (marked.success) return { artifacts: [fileOf(marked.data)], data: answer, isMarked: true };
  const parts = withArtifacts.safeParse(answer);
  if (!parts.success) return { artifacts: [], data: answer };
  const files = z.array(artifact).safeParse(parts.data.artifacts);
  if (!files.success)
    throw new Error(`${tool} gave artifacts that are none: ${z.prettifyError(files.error)}`);
  return { artifacts: files.data as readonly Artifact[], data: parts.data.data };
}

function withoutContent(data: unknown): unknown {
  const fields = z.looseObject({}).safeParse(data);
  if (!fields.success) return data;
  const { content: _content, __artifact__: _mark, ...rest } = fields.data;
  return Object.keys(rest).length === 0 ? undefined : rest;
}

/** The data for the model. Throws if the output schema refuses it, or if JSON can't express it. */
function dataOf(tool: string, data: unknown, output: z.ZodType | undefined): unknown {
  refuseLarge(tool, data);
  if (output !== undefined) {
    const read = output.safeParse(data);
    if (!read.success)
      throw new Error(
        `${tool} gave an answer that its own output schema refuses: ${z.prettifyError(read.error)}`,
      );
    return plain(tool, read.data);
  }
  return plain(tool, data);
}

/** Throws if data is huge, before anything copies it. */
function refuseLarge(tool: string, data: unknown): void {
  let values = 0;
  let characters = 0;
  const tooLarge = (most: string): Error =>
    new Error(`${tool} gave more than ${most}: give a part of it, or a file as an artifact`);
  let refused: Error | undefined;
  try {
    JSON.stringify(data, (key, value: unknown) => {
      values += 1;
      characters += key.length + (typeof value === 'string' ? value.length : 0);
      if (values > mostValues) refused = tooLarge(`${mostValues} values`);
      if (characters > mostCharacters) refused = tooLarge(`${mostCharacters} characters`);
      if (refused !== undefined) throw refused;
      return withCollections(key, value);
    });
  } catch (error) {
    // JSON can't express it, but the schema may still turn it into JSON.
    if (refused !== undefined) throw error;
  }
}

function plain(tool: string, data: unknown): unknown {
  if (data === undefined || typeof data === 'string') return data;
  const json: string | undefined = JSON.stringify(data, withCollections);
  if (json === undefined) throw new Error(`${tool} gave an answer that JSON can't say: a ${typeof data}`);
  return JSON.parse(json);
}

function withCollections(_key: string, value: unknown): unknown {
  if (value instanceof Map) return Object.fromEntries(value as ReadonlyMap<string, unknown>);
  return value instanceof Set ? [...(value as ReadonlySet<unknown>)] : value;
}

/** An artifact as CachiBot plugins return it. The model gets its other fields, such as `id`. */
const markedArtifact = z.looseObject({
  __artifact__: z.literal(true),
  title: z.string().min(1),
  type: z.string().optional(),
  language: z.string().optional(),
  content: z.string(),
});

const endings: Readonly<Record<string, string>> = {
  ...{ markdown: 'md', html: 'html', svg: 'svg', mermaid: 'mmd', react: 'jsx', code: 'txt', json: 'json' },
  ...{ python: 'py', javascript: 'js', typescript: 'ts', bash: 'sh', css: 'css', csv: 'csv', yaml: 'yaml' },
};

function fileOf({ title, type = '', language = '', content }: z.output<typeof markedArtifact>): Artifact {
  const ending = endings[language.toLowerCase()] ?? endings[type.toLowerCase()] ?? 'txt';
  const name = title.replace(/[\p{Cc}/\\]+/gu, ' ').trim() || 'artifact';
  return { name: /\.\w{1,5}$/.test(name) ? name : `${name}.${ending}`, data: content };
}

/** Files with optional data. An object with other keys is plain data. */
const withArtifacts = z.strictObject({ artifacts: z.array(z.unknown()), data: z.unknown().optional() });

const artifact = z.looseObject({
  name: z.string().min(1),
  mime: z.string().optional(),
  caption: z.string().optional(),
  data: z.custom(isData, 'write text, bytes or an async iterable of bytes'),
});

function isData(value: unknown): boolean {
  return (
    typeof value === 'string' ||
    value instanceof Uint8Array ||
    (typeof value === 'object' && value !== null && Symbol.asyncIterator in value)
  );
}
