import { createHash, hash, type Hash } from 'node:crypto';
import type Anthropic from '@anthropic-ai/sdk';
import { fitCallId } from '../fit-history.ts';
import { newestSummary } from '../to-messages.ts';
import type { Entry } from '../../core/entry.ts';
import type { BoundThinking, ModelApi, ModelRequest } from '../../core/model.ts';
import { once } from '../../lib/async/mutex.ts';

/** Prefix of ids of calls that the bot makes for a person. Models can't use it. */
const hostCallPrefix = 'person_';

type Mark = Anthropic.CacheControlEphemeral;
const mark: Mark = { type: 'ephemeral' };
const hourMark: Mark = { type: 'ephemeral', ttl: '1h' };

/** How long the cache keeps the system prompt with the tools, and the messages. */
export type CacheTimes = Readonly<{ start: '5m' | '1h'; messages: '5m' | '1h' }>;

/** How many blocks back the API looks for a cached prefix. */
const lookback = 20;

/** Where a request goes. Thinking is never sent to another account. */
export type Account = Readonly<{
  api?: ModelApi;
  baseUrl?: string | undefined;
  apiKey?: string | undefined;
  region?: string | undefined;
  project?: string | undefined;
  /** What the server calls the model. */
  name: string;
  /** True if thinking is valid only after exactly the same request. */
  bindsThinking: boolean;
}>;

export type BoundRequest = Readonly<{
  /** The messages without thinking from other accounts or after other messages. */
  messages: readonly Anthropic.MessageParam[];
  known?: number | undefined;
  bindingOf(content: readonly Anthropic.ContentBlock[]): string | undefined;
}>;

/** A request as its model is sent it. */
export type SentRequest = Omit<ModelRequest, 'tools'> & Readonly<{ tools: readonly Anthropic.ToolUnion[] }>;

type Block = Anthropic.ContentBlockParam;

/**
 * Keeps thinking only after the request for which it was made (M13): a digest of account, system, tools and messages
 * has to match the stored one. Models that do not bind thinking need it while tools shrink, so for them only account,
 * system and audience count.
 */
export function boundThinking(request: SentRequest, account: Account): BoundRequest {
  const { messages } = request;
  const thinks = messages.some(({ content }) => typeof content !== 'string' && content.some(isThinking));
  const walked = once(() => walk(request, account));
  return {
    messages: thinks ? walked().messages : messages,
    known: thinks ? walked().known : undefined,
    bindingOf(content) {
      const blocks = upToLastThinking(content);
      return blocks.length === 0 ? undefined : walked().bind(blocks);
    },
  };
}

function walk({ system, tools, messages, audience }: SentRequest, account: Account) {
  const { api = 'anthropic', baseUrl, apiKey = '', name, bindsThinking, region, project } = account;
  // For the Messages API as before there were others, so that stored bindings still hold.
  const place = api === 'anthropic' ? [] : [api, region ?? '', project ?? ''];
  let digest = createHash('sha256');
  digest.update(plain([...place, baseUrl, apiKey, name, system, ...(bindsThinking ? [tools] : [audience])]));
  const pass = (running: Hash, role: string, blocks: readonly Block[]): void => {
    if (bindsThinking) for (const block of blocks) running.update(plain([role, unbound(block)]));
  };
  const keep = (role: string, { binding, blocks }: Span): readonly Block[] => {
    if (binding !== undefined) {
      const trial = digest.copy();
      pass(trial, role, blocks);
      if (trial.copy().digest('base64url') === binding) {
        digest = trial;
        return blocks.map(unbound);
      }
    }
    const left = blocks.filter((block) => !isThinking(block));
    pass(digest, role, left);
    return left;
  };
  let known: number | undefined;
  const kept = messages.map(({ role, content }, index) => {
    const blocks: readonly Block[] =
      typeof content === 'string' ? [{ type: 'text', text: content }] : content;
    const left = spans(blocks).flatMap((span) => keep(role, span));
    if (left.some(isThinking)) known = index - 1;
    return { role, content: left } as Anthropic.MessageParam;
  });
  return {
    messages: kept,
    known,
    bind(blocks: readonly Block[]): string {
      const running = digest.copy();
      pass(running, 'assistant', blocks);
      return running.digest('base64url');
    },
  };
}

type Span = Readonly<{ binding: string | undefined; blocks: readonly Block[] }>;

/** Splits blocks after the last thinking of each answer, because one message may contain two answers. */
function spans(blocks: readonly Block[]): readonly Span[] {
  const first = blocks.findIndex(isThinking);
  if (first < 0) return [{ binding: undefined, blocks }];
  const { binding = '' } = blocks[first] as BoundThinking;
  const last = blocks.findLastIndex(
    (block) => isThinking(block) && ((block as BoundThinking).binding ?? '') === binding,
  );
  return [{ binding, blocks: blocks.slice(0, last + 1) }, ...spans(blocks.slice(last + 1))];
}

/**
 * The blocks up to the last thinking that is followed by something. Thinking at the end of an answer never comes back.
 */
function upToLastThinking(content: readonly Anthropic.ContentBlock[]): readonly Block[] {
  const shown = content.slice(0, content.findLastIndex((block) => !isThinking(block)) + 1);
  return shown.slice(0, shown.findLastIndex(isThinking) + 1);
}

function isThinking(block: Block | Anthropic.ContentBlock): boolean {
  return block.type === 'thinking' || block.type === 'redacted_thinking';
}

function unbound(block: Block): Block {
  if (!isThinking(block)) return block;
  const { binding: _, ...rest } = block as BoundThinking;
  return rest;
}

function plain(value: unknown): string {
  return JSON.stringify(value);
}

type Cacheable = Pick<SentRequest, 'system' | 'messages' | 'tools'>;

/**
 * Marks at most four breakpoints (M5): the first system block and three user messages. The last two find the turn's
 * previous request, the third one the last request for the same people (`known`).
 */
export function withCachePoints(
  { system, messages, tools }: Cacheable,
  known?: number,
  times: CacheTimes = { start: '5m', messages: '5m' },
): Cacheable {
  const markOf = (time: '5m' | '1h'): Mark => (time === '1h' ? hourMark : mark);
  const users = messages.flatMap(({ role }, index) => (role === 'user' ? [index] : []));
  const ends = [...users.slice(-2), ...thirdEnd(messages, users.slice(0, -1), known)];
  return {
    tools: system.length > 0 ? tools : markLast(tools, markOf(times.start)),
    system: system.map((block, index) =>
      index === 0 ? { ...block, cache_control: markOf(times.start) } : block,
    ),
    messages: messages.map((message, index) =>
      message.role === 'user' && ends.includes(index)
        ? { ...message, content: markLast(asBlocks(message.content), markOf(times.messages)) }
        : message,
    ),
  };
}

/** Where the third mark goes. `users` are the indexes of user messages before the last one. */
function thirdEnd(
  messages: readonly Anthropic.MessageParam[],
  users: readonly number[],
  known: number | undefined,
): readonly number[] {
  const second = users.at(-1);
  if (second === undefined) return [];
  const before = users.slice(0, -1);
  if (known !== undefined && known < second) return before.filter((index) => index <= known).slice(-1);
  let blocks = 0;
  const near = before.toReversed().filter((index, at, reversed) => {
    for (let next = index + 1; next <= (reversed[at - 1] ?? second); next++)
      blocks += asBlocks(messages[next]?.content ?? []).length;
    return blocks <= lookback;
  });
  return near.slice(-1);
}

function markLast<Block extends object>(content: readonly Block[], control: Mark): Block[] {
  return content.map((block, index) =>
    index === content.length - 1 ? { ...block, cache_control: control } : block,
  );
}

function asBlocks(
  content: string | readonly Anthropic.ContentBlockParam[],
): readonly Anthropic.ContentBlockParam[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

export function invocationId(key: string): string {
  return `${hostCallPrefix}${hash('sha256', key).slice(0, 24)}`;
}

export function isHostCall(id: string): boolean {
  return id.startsWith(hostCallPrefix);
}

/**
 * Makes the ids of calls unique, because some local servers count from zero in each answer. The time of a summary is
 * added for the calls that it replaced.
 */
export function uniqueCallIds(
  content: readonly Anthropic.ContentBlock[],
  entries: readonly Entry[],
): readonly Anthropic.ContentBlock[] {
  const used = new Set(entries.flatMap((entry) => (entry.kind === 'assistant' ? idsOf(entry.content) : [])));
  const since = newestSummary(entries).summary?.at.toString(36);
  return content.map((block) => {
    if (block.type !== 'tool_use') return block;
    const given = fitCallId(block.id);
    const wanted = fitCallId(given.startsWith(hostCallPrefix) ? `call_${given}` : given);
    const id = freeId(since === undefined ? wanted : `${wanted}_${since}`, used);
    used.add(id);
    return id === block.id ? block : { ...block, id };
  });
}

function freeId(wanted: string, used: ReadonlySet<string>): string {
  let id = fitCallId(wanted);
  for (let count = 2; used.has(id); count++) id = fitCallId(`${wanted}_${count}`);
  return id;
}

function idsOf(content: readonly Anthropic.ContentBlock[]): readonly string[] {
  return content.flatMap((block) => (block.type === 'tool_use' ? [fitCallId(block.id)] : []));
}
