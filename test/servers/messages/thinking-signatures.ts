import { createHash } from 'node:crypto';
import type { AnswerBlock } from './answer.ts';
import type { MessagesRequest, RequestBlock } from './request-shape.ts';

/** What happens to a request whose thinking does not fit its conversation. */
export type Mismatch = 'error' | 'drop_block';

/** A thinking block that the model was not shown, in the words of `input_transformations`. */
export type Dropped = Readonly<{ type: 'thinking_dropped'; path: string; reason: string }>;

type Signed = Readonly<{
  account: string;
  model: string;
  /** Digest of everything before the block but thinking. */
  prefix: string;
  /** Signature of the thinking block before it, however far back. */
  previous: string | undefined;
}>;

type Verdict = Readonly<{ refused: string } | { request: MessagesRequest; dropped: readonly Dropped[] }>;

const bound =
  'The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".';

/**
 * Signs thinking blocks and checks those that come back, as the API does for accounts made since 2026-08-31: a block is
 * good in the account that it was made in, behind the same system, tools and messages, and behind the same thinking
 * block. Thinking may be left out from the front, not in between. `cache_control` does not count.
 */
export function createThinkingSignatures(mode: Mismatch) {
  const known = new Map<string, Signed>();
  let made = 0;

  return {
    /** The answer's blocks, thinking signed. */
    sign<T extends AnswerBlock>(content: readonly T[], request: MessagesRequest, account: string) {
      const walk = startWalk(request);
      for (const { role, block } of blocksOf(request)) walk.pass(role, block);
      return content.map((block) => {
        if (block.type !== 'thinking') {
          walk.pass('assistant', asReturned(block));
          return block;
        }
        const signature = block.signature ?? `signature_${++made}`;
        known.set(signature, { account, model: request.model, ...walk.here() });
        walk.pass('assistant', { type: 'thinking', thinking: block.thinking, signature });
        return { ...block, signature };
      });
    },
    /** The request as the model sees it, or why it is refused. */
    check(request: MessagesRequest, account: string): Verdict {
      const binds = /-5-5|-(fable|mythos)-5-[12]/.test(request.model);
      const { thinking } = request;
      const binding =
        thinking !== undefined && 'block_binding' in thinking ? thinking.block_binding : undefined;
      const behaviour = binding?.prefix_mismatch_behavior ?? mode;
      const walk = startWalk(request);
      const dropped: Dropped[] = [];
      const gone = new Set<RequestBlock>();
      let broken = false;
      for (const { role, block, path } of blocksOf(request)) {
        if (block.type !== 'thinking') {
          walk.pass(role, block);
          continue;
        }
        const bad = `${path}: Invalid \`signature\` in \`thinking\` block`;
        const signed = known.get(block.signature);
        if (signed === undefined) return { refused: bad };
        if (signed.account !== account) return { refused: `${bad}. The block belongs to another account.` };
        const { prefix, previous } = walk.here();
        const chained = previous === undefined || previous === signed.previous;
        const fits = !broken && prefix === signed.prefix && chained;
        const readable = signed.model === request.model;
        if (binds && readable && !fits && behaviour === 'error') return { refused: `${bad}. ${bound}` };
        if (readable && (fits || !binds)) {
          walk.pass(role, block);
          continue;
        }
        if (readable) broken = true;
        gone.add(block);
        const reason = readable ? 'prefix_binding_mismatch' : 'model_binding_mismatch';
        dropped.push({ type: 'thinking_dropped', path, reason });
      }
      return { request: without(request, gone), dropped };
    },
  };
}

function startWalk({ system, tools }: MessagesRequest) {
  const hash = createHash('sha256').update(written({ system, tools }));
  let previous: string | undefined;
  return {
    pass(role: string, block: object): void {
      if ('type' in block && block.type === 'thinking') {
        previous = String((block as { signature?: unknown }).signature);
        return;
      }
      hash.update(written([role, block]));
    },
    here: () => ({ prefix: hash.copy().digest('hex'), previous }),
  };
}

function* blocksOf({ messages }: MessagesRequest) {
  for (const [index, { role, content }] of messages.entries()) {
    const blocks: readonly RequestBlock[] =
      typeof content === 'string' ? [{ type: 'text', text: content }] : content;
    for (const [at, block] of blocks.entries())
      yield { role, block, path: `messages.${index}.content.${at}` };
  }
}

/** What a client keeps of a block, and sends back. */
function asReturned(block: AnswerBlock): object {
  return block.type === 'tool_use' ? { ...block, caller: { type: 'direct' } } : block;
}

/** Keys in order, without what the check leaves out. */
function written(value: unknown): string {
  return JSON.stringify(value, (key, part: unknown) => {
    if (key === 'cache_control' || key === 'citations') return undefined;
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  });
}

function without(request: MessagesRequest, gone: ReadonlySet<RequestBlock>): MessagesRequest {
  if (gone.size === 0) return request;
  const messages = request.messages.map((message) =>
    typeof message.content === 'string'
      ? message
      : { ...message, content: message.content.filter((block) => !gone.has(block)) },
  );
  return { ...request, messages };
}
