import { createHash, hash, type Hash } from 'node:crypto';
import type Anthropic from '@anthropic-ai/sdk';
import { newestSummary } from '../to-messages.ts';
import type { Entry } from '../../core/entry.ts';
import type { BoundThinking, ModelRequest } from '../../core/model.ts';
import { once } from '../../lib/async/mutex.ts';

/** Begins the ids of calls that the host makes for a person: no model's call may pass for one. */
const hostCallPrefix = 'person_';

const mark = { type: 'ephemeral' } as const;

/** Blocks before a breakpoint within which the API finds a prefix that it knows. */
const lookback = 20;

/** Who makes and reads thinking: what it was made by for one is never shown to another. */
export type Account = Readonly<{
  baseUrl: string;
  apiKey?: string;
  model: string;
  /** Thinking is good only behind the very request that it was made behind. */
  bindsThinking: boolean;
}>;

export type BoundRequest = Readonly<{
  /** Without thinking that was not made by this account, behind what stands before it here. */
  messages: readonly Anthropic.MessageParam[];
  /** Index of the last message of an earlier request of this account, where thinking tells of one. */
  known?: number | undefined;
  /** What the thinking of an answer to this request is bound to; undefined if it has none. */
  bindingOf(content: readonly Anthropic.ContentBlock[]): string | undefined;
}>;

type Block = Anthropic.ContentBlockParam;

/**
 * Keeps the thinking of a request that is provably where it was made (M13): a running digest of account, system, tools and
 * messages as they are sent must be the one that was stored with the answer. An answer keeps all of its thinking or
 * none. A model that does not bind its thinking needs it in a tool loop whose tools may shrink: there account, system
 * and audience count. One pass over the request, and none where nobody thinks.
 */
export function boundThinking(request: ModelRequest, account: Account): BoundRequest {
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

function walk({ system, tools, messages, audience }: ModelRequest, account: Account) {
  const { baseUrl, apiKey = '', model, bindsThinking } = account;
  let digest = createHash('sha256');
  digest.update(plain([baseUrl, apiKey, model, system, ...(bindsThinking ? [tools] : [audience])]));
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
    // It was an answer to everything before it.
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

/** Cuts the blocks of one message behind the last thinking of each answer in it: two may stand in one message. */
function spans(blocks: readonly Block[]): readonly Span[] {
  const first = blocks.findIndex(isThinking);
  if (first < 0) return [{ binding: undefined, blocks }];
  const { binding = '' } = blocks[first] as BoundThinking;
  const last = blocks.findLastIndex(
    (block) => isThinking(block) && ((block as BoundThinking).binding ?? '') === binding,
  );
  return [{ binding, blocks: blocks.slice(0, last + 1) }, ...spans(blocks.slice(last + 1))];
}

/** Of an answer what its thinking is bound to: thinking at its end never goes back. */
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

type Cacheable = Pick<ModelRequest, 'system' | 'messages' | 'tools'>;

/**
 * The request with its prompt-cache breakpoints (M5), four at most: after the first system block (the stable part, tools
 * before it), and at the end of three user messages. The last two find the previous request of the same turn, however many
 * calls it made. The third finds the last request for the same people behind turns of others: `known` is a message that
 * stood in it, otherwise it is as far back as leaves no gap.
 */
export function withCachePoints({ system, messages, tools }: Cacheable, known?: number): Cacheable {
  const users = messages.flatMap(({ role }, index) => (role === 'user' ? [index] : []));
  const ends = [...users.slice(-2), ...thirdEnd(messages, users.slice(0, -1), known)];
  return {
    tools: system.length > 0 ? tools : markLast(tools),
    system: system.map((block, index) => (index === 0 ? { ...block, cache_control: mark } : block)),
    messages: messages.map((message, index) =>
      message.role === 'user' && ends.includes(index)
        ? { ...message, content: markLast(asBlocks(message.content)) }
        : message,
    ),
  };
}

/** `users`: indexes of user messages, up to the one before the last. */
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

function markLast<Block extends object>(content: readonly Block[]): Block[] {
  return content.map((block, index) =>
    index === content.length - 1 ? { ...block, cache_control: mark } : block,
  );
}

function asBlocks(
  content: string | readonly Anthropic.ContentBlockParam[],
): readonly Anthropic.ContentBlockParam[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

/** The id of the `use_skill` call behind a person's command, by the key of its inbox item. */
export function invocationId(key: string): string {
  return `${hostCallPrefix}${hash('sha256', key).slice(0, 24)}`;
}

/** Whether the host made the call, so that its input is the host's own. */
export function isHostCall(id: string): boolean {
  return id.startsWith(hostCallPrefix);
}

/**
 * An answer's content with ids for its tool calls that no earlier call of the transcript has. Some local servers count
 * from zero in each answer, and the journal tells calls apart by their ids. Where a summary stands for calls that can't be
 * looked at any more, its time is added.
 */
export function uniqueCallIds(
  content: readonly Anthropic.ContentBlock[],
  entries: readonly Entry[],
): readonly Anthropic.ContentBlock[] {
  const used = new Set(entries.flatMap((entry) => (entry.kind === 'assistant' ? idsOf(entry.content) : [])));
  const since = newestSummary(entries).summary?.at.toString(36);
  return content.map((block) => {
    if (block.type !== 'tool_use') return block;
    const given = block.id || 'call';
    const wanted = given.startsWith(hostCallPrefix) ? `call_${given}` : given;
    const id = freeId(since === undefined ? wanted : `${wanted}_${since}`, used);
    used.add(id);
    return id === block.id ? block : { ...block, id };
  });
}

function freeId(wanted: string, used: ReadonlySet<string>): string {
  let id = wanted;
  for (let count = 2; used.has(id); count++) id = `${wanted}_${count}`;
  return id;
}

function idsOf(content: readonly Anthropic.ContentBlock[]): readonly string[] {
  return content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []));
}
