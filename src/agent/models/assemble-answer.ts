import type { Anthropic } from '@anthropic-ai/sdk/index.js';
import { createThinkFilter, type ThinkFilter } from './think-tags.ts';
import { fitInput } from '../fit-history.ts';
import type { Tokens } from '../../core/model.ts';

/** What stands around an answer. */
type Head = Readonly<{
  model: string | undefined;
  /** Undefined if the server gave none. */
  id: string | undefined;
  /** Why its cache did not hold what an earlier request began with, in its words (M20). */
  cacheMiss: string | undefined;
}>;

/** What a server has said so far. */
export type Assembled = Head &
  Readonly<{
    content: readonly Anthropic.ContentBlock[];
    stopReason: string | undefined;
    /** Members are undefined if the server did not tell them or told 0. */
    tokens: Partial<Tokens>;
  }>;

export type Assembly = Readonly<{
  /** Reads an event of a stream, or a whole message. Returns the new words. */
  take(event: unknown): string;
  /** Ends the answer. Returns the words that were held back. */
  end(): string;
  /** How many characters the answer has so far. */
  size(): number;
  blocks(): number;
  /** True once the server has told the end of the answer. */
  hasEnded(): boolean;
  /** True if the server told the end, or ended each block that it began, with at least one. */
  isWhole(): boolean;
  /** True if nothing of it was in the Messages API. */
  isForeign(): boolean;
  /** True if the thinking of this model begins in its template. */
  beganInside(): boolean;
  assembled(): Assembled;
}>;

type Fields = Readonly<Record<string, unknown>>;

type Draft = {
  readonly start: Fields;
  readonly type: string;
  /** The text, the thinking, or the JSON of an input. */
  written: string;
  given?: unknown;
  signature?: string;
  citations?: unknown[];
  filter?: ThinkFilter;
  ended: boolean;
};

/**
 * Builds an answer from the events of a server that may leave out what it should send (M19). With `tags`, thinking may
 * come between tags; with `inside`, it begins without one.
 */
export function createAssembly(options: Readonly<{ tags: boolean; inside: boolean }>): Assembly {
  const { drafts, size, begin, change, finish } = createDrafts(options);
  let stopReason: string | undefined;
  let counts: Fields = {};
  let head: Head = { model: undefined, id: undefined, cacheMiss: undefined };
  let told = false;
  let known = false;

  function message(fields: Fields): string {
    known = true;
    head = headOf(fields, head);
    const { usage, stop_reason, content } = fields;
    counts = { ...counts, ...countsOf(usage) };
    stop(stop_reason);
    if (typeof content === 'string') return content === '' ? '' : begin({ type: 'text', text: content }, 0);
    if (!Array.isArray(content)) return '';
    return content.map((each: unknown, index) => begin(asFields(each), index)).join('');
  }

  function stop(reason: unknown): void {
    if (typeof reason !== 'string' || reason === '') return;
    stopReason = reason;
    told = true;
  }

  return {
    take(event) {
      const { type, index, ...fields } = asFields(event);
      known ||= typeof type === 'string' && eventsOfContent.has(type);
      told ||= type === 'message' || type === 'message_stop';
      switch (type) {
        case 'message_start':
          return drafts.length === 0 ? message(asFields(fields['message'])) : '';
        case 'message':
          return message(fields);
        case 'content_block_start':
          return begin(asFields(fields['content_block']), index);
        case 'content_block_delta':
          return change(asFields(fields['delta']), index);
        case 'content_block_stop':
          return finish(index);
        case 'message_delta':
          counts = { ...counts, ...countsOf(fields['usage']) };
          stop(asFields(fields['delta'])['stop_reason']);
          return '';
        default:
          return '';
      }
    },
    end: () => drafts.map(endDraft).join(''),
    size,
    blocks: () => drafts.length,
    hasEnded: () => told,
    isWhole: () => told || (drafts.length > 0 && drafts.every(({ ended }) => ended)),
    isForeign: () => !known,
    beganInside: () => drafts.some(({ filter }) => filter?.beganInside() === true),
    assembled: () => ({ ...head, content: drafts.map(toBlock), stopReason, tokens: toTokens(counts) }),
  };
}

function headOf({ id, model, diagnostics }: Fields, before: Head): Head {
  const reason = asFields(asFields(diagnostics)['cache_miss_reason'])['type'];
  return {
    id: before.id ?? (typeof id === 'string' ? id : undefined),
    model: before.model ?? (typeof model === 'string' && model !== '' ? model : undefined),
    cacheMiss: typeof reason === 'string' ? reason : before.cacheMiss,
  };
}

/** A server that sends one of these speaks the Messages API. */
const eventsOfContent: ReadonlySet<string> = new Set([
  'content_block_start',
  'content_block_delta',
  'message_delta',
]);

/** The blocks of an answer as they come. `begin`, `change` and `finish` return the new words. */
function createDrafts({ tags, inside }: Readonly<{ tags: boolean; inside: boolean }>) {
  const drafts: Draft[] = [];
  const byIndex = new Map<unknown, Draft>();
  let size = 0;

  function add(start: Fields, index: unknown): Draft {
    const type = typeof start['type'] === 'string' ? start['type'] : 'text';
    const isFirst = !drafts.some((draft) => draft.type === 'text');
    const draft: Draft = { start, type, written: '', ended: false };
    if (type === 'text' && tags) draft.filter = createThinkFilter(inside && isFirst);
    drafts.push(draft);
    byIndex.set(index, draft);
    size += 1;
    return draft;
  }

  function write(draft: Draft, more: unknown): string {
    if (more === undefined || more === null) return '';
    if (typeof more !== 'string') {
      draft.given = more;
      size += JSON.stringify(more).length;
      return '';
    }
    size += more.length;
    draft.written += draft.filter === undefined ? more : '';
    if (draft.type !== 'text') return '';
    return draft.filter === undefined ? more : draft.filter.push(more);
  }

  return {
    drafts,
    size: () => size,
    begin(start: Fields, index: unknown): string {
      const draft = add(start, index);
      const field = fieldOf.get(draft.type);
      if (field !== undefined) return write(draft, start[field]);
      size += JSON.stringify(start).length;
      return '';
    },
    change(change: Fields, index: unknown): string {
      const kind = kindOf(change);
      if (kind === undefined) return '';
      const last = byIndex.get(index) ?? (index === undefined ? drafts.at(-1) : undefined);
      if (kind === 'signature' || kind === 'citation') {
        if (last !== undefined) attach(last, change);
        return '';
      }
      const draft = last !== undefined && isOpenFor(last, kind) ? last : add({ type: kind }, index);
      return write(draft, change['text'] ?? change['thinking'] ?? change['partial_json']);
    },
    finish(index: unknown): string {
      const draft = byIndex.get(index) ?? drafts.at(-1);
      return draft === undefined ? '' : endDraft(draft);
    },
  };
}

/** Adds a signature or a citation to a block. */
function attach(draft: Draft, { signature, citation }: Fields): void {
  if (typeof signature === 'string') draft.signature = (draft.signature ?? '') + signature;
  else if (citation !== undefined) (draft.citations ??= []).push(citation);
}

function isOpenFor({ ended, type }: Draft, kind: 'text' | 'thinking' | 'tool_use'): boolean {
  return !ended && (type === kind || (fieldOf.get(type) === 'input' && kind === 'tool_use'));
}

function endDraft(draft: Draft): string {
  if (draft.ended) return '';
  draft.ended = true;
  return draft.filter?.end() ?? '';
}

/** The field in which a block that starts may contain all of its content. */
const fieldOf: ReadonlyMap<string, string> = new Map([
  ['text', 'text'],
  ['thinking', 'thinking'],
  ['tool_use', 'input'],
  ['server_tool_use', 'input'],
]);

function kindOf(change: Fields): 'text' | 'thinking' | 'tool_use' | 'signature' | 'citation' | undefined {
  if ('text' in change) return 'text';
  if ('thinking' in change) return 'thinking';
  if ('partial_json' in change) return 'tool_use';
  if ('signature' in change) return 'signature';
  return 'citation' in change ? 'citation' : undefined;
}

function toBlock({
  start,
  type,
  written,
  given,
  signature,
  citations,
  filter,
}: Draft): Anthropic.ContentBlock {
  const block = { ...start, type } as unknown as Anthropic.ContentBlock;
  const field = fieldOf.get(type);
  if (field === undefined) return block;
  if (field === 'input')
    return { ...block, input: fitInput(written.trim() === '' ? given : written) } as Anthropic.ToolUseBlock;
  const made: Record<string, unknown> = { ...block, [field]: filter?.text() ?? written };
  if (signature !== undefined) made['signature'] = signature;
  if (citations !== undefined) made['citations'] = citations;
  return made as unknown as Anthropic.ContentBlock;
}

function asObject(value: unknown): object | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
}

function asFields(value: unknown): Fields {
  return (asObject(value) ?? {}) as Fields;
}

/** More tokens than any answer has, in case that a server counts nonsense: the store keeps whole numbers. */
const mostTokens = 1_000_000_000;

/** The positive counts of a usage, as whole numbers up to `mostTokens`. */
function countsOf(usage: unknown): Fields {
  const fields = asFields(usage);
  const counts = Object.entries({
    ...fields,
    ...asFields(fields['cache_creation']),
    ...asFields(fields['server_tool_use']),
  }).map(([key, count]) => [key, Number(count)] as const);
  return Object.fromEntries(
    counts.flatMap(([key, count]) =>
      Number.isFinite(count) && count > 0 ? [[key, Math.min(mostTokens, Math.round(count))]] : [],
    ),
  );
}

function toTokens(counts: Fields): Partial<Tokens> {
  const count = (key: string): number | undefined => counts[key] as number | undefined;
  return {
    input: count('input_tokens'),
    output: count('output_tokens'),
    cacheRead: count('cache_read_input_tokens'),
    cacheWrite: count('cache_creation_input_tokens'),
    cacheWriteHour: count('ephemeral_1h_input_tokens'),
    searches: count('web_search_requests'),
  };
}
