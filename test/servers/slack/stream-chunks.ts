import { checkBlocks } from './block-kit.ts';
import type { Json } from './event-payloads.ts';
import { refuse, structured, text } from './method-context.ts';

/** How a stream is fed. Slack refuses a stream that changes from one to the other. */
export type StreamMode = 'markdown_text' | 'chunks';

/** What a call adds to a stream. `mode` is undefined if it adds nothing. */
export type Streamed = Readonly<{
  mode: StreamMode | undefined;
  text: string;
  title: string | undefined;
  tasks: readonly ShownTask[];
}>;

/** A step of a plan as people see it, from a chunk or a card. */
export type ShownTask = Readonly<{ id: string; title: string; status: string }>;
export type ShownPlan = Readonly<{ title: string; tasks: readonly ShownTask[] }>;

const statuses = ['pending', 'in_progress', 'complete', 'error'];
/** Slack's reference has this limit for each field of a task and the title of a plan. */
const longestField = 256;

/**
 * Reads the words and chunks of a call that streams, and refuses what Slack refuses. Both at once are
 * `cannot_provide_both_markdown_text_and_chunks`, a change of the kind within a stream `streaming_mode_mismatch`
 * (hermes-agent#104173, vercel/chat#886).
 */
export function readStreamed(args: Json, before?: StreamMode): Streamed {
  const markdown = text(args, 'markdown_text');
  const given = structured(args, 'chunks', 'invalid_chunks');
  if (given !== undefined && !Array.isArray(given)) return refuse('invalid_chunks');
  const chunks = (given ?? []) as readonly unknown[];
  if (markdown !== '' && chunks.length > 0) return refuse('cannot_provide_both_markdown_text_and_chunks');
  const mode = markdown !== '' ? 'markdown_text' : chunks.length > 0 ? 'chunks' : undefined;
  if (mode !== undefined && before !== undefined && mode !== before) return refuse('streaming_mode_mismatch');
  const problems = chunks.flatMap((chunk, index) => checkChunk(chunk, `/chunks/${index}`));
  if (problems.length > 0)
    return refuse(
      'invalid_chunks',
      problems.map((problem) => `[ERROR] ${problem}`),
    );
  const read = chunks as readonly Json[];
  const words = read.flatMap((chunk) => (chunk['type'] === 'markdown_text' ? [chunk['text']] : [])).join('');
  if (`${markdown}${words}`.length > 12_000) return refuse('msg_too_long');
  const titles = read.flatMap((chunk) => (chunk['type'] === 'plan_update' ? [String(chunk['title'])] : []));
  const tasks = read.flatMap(({ type, id, title, status }) =>
    type === 'task_update' ? [{ id: String(id), title: String(title), status: String(status) }] : [],
  );
  return { mode, text: `${markdown}${words}`, title: titles.at(-1), tasks };
}

/** The words that a call streams, which need not be valid. */
export function streamedIn(args: Json): string {
  return args['chunks'] === undefined ? '' : readStreamed(args).text;
}

/** The plan of a message after a call streamed into it. A task is known by its id. */
export function planAfter(before: ShownPlan | undefined, { title, tasks }: Streamed): ShownPlan | undefined {
  if (title === undefined && tasks.length === 0) return before;
  const all = new Map([...(before?.tasks ?? []), ...tasks].map((task) => [task.id, task]));
  return { title: title ?? before?.title ?? '', tasks: [...all.values()] };
}

/** The plan among a message's blocks. */
export function planIn(blocks: readonly Json[]): ShownPlan | undefined {
  const plan = blocks.find(({ type }) => type === 'plan');
  if (plan === undefined) return undefined;
  const cards = (plan['tasks'] ?? []) as readonly Json[];
  const tasks = cards.map(({ task_id: id, title, status }) => ({
    id: String(id),
    title: String(title),
    status: String(status),
  }));
  return { title: String(plan['title']), tasks };
}

function checkChunk(chunk: unknown, at: string): readonly string[] {
  if (typeof chunk !== 'object' || chunk === null) return [`must be an object [json-pointer:${at}]`];
  const { type, text: words, title, id, status, details, output, blocks, ...more } = chunk as Json;
  const unknown = (allowed: readonly string[]): readonly string[] =>
    Object.keys({ ...more, text: words, title, id, status, details, output, blocks }).flatMap((key) =>
      (chunk as Json)[key] === undefined || allowed.includes(key)
        ? []
        : [`additional property ${key} is not allowed [json-pointer:${at}]`],
    );
  switch (type) {
    case 'markdown_text':
      return [...unknown(['text']), ...field(words, `${at}/text`, 12_000)];
    case 'plan_update':
      return [...unknown(['title']), ...field(title, `${at}/title`)];
    case 'task_update':
      return [
        ...unknown(['id', 'title', 'status', 'details', 'output', 'sources']),
        ...field(id, `${at}/id`),
        ...field(title, `${at}/title`),
        ...(typeof status === 'string' && statuses.includes(status)
          ? []
          : [`must be one of ${statuses.join(', ')} [json-pointer:${at}/status]`]),
        ...(details === undefined ? [] : field(details, `${at}/details`)),
        ...(output === undefined ? [] : field(output, `${at}/output`)),
      ];
    case 'blocks':
      return [...unknown(['blocks']), ...checkBlocks(blocks)];
    default:
      return [`unsupported chunk type: ${String(type)} [json-pointer:${at}/type]`];
  }
}

function field(value: unknown, at: string, most = longestField): readonly string[] {
  if (typeof value !== 'string' || value === '') return [`missing required field [json-pointer:${at}]`];
  return value.length > most ? [`must be less than ${most + 1} characters [json-pointer:${at}]`] : [];
}
