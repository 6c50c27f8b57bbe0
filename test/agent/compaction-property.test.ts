import type Anthropic from '@anthropic-ai/sdk';
import fc from 'fast-check';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planCompaction } from '../../src/agent/plan-compaction.ts';
import { toMessages, isShown, viewEntries } from '../../src/agent/to-messages.ts';
import type { Entry } from '../../src/core/entry.ts';
import { noTokens } from '../../src/core/model.ts';
import { messagesOnly, refusalOf } from './strict-request.ts';

const runs = Number(process.env['SKILLET_FUZZ_RUNS'] ?? 200);

type Limits = Readonly<{ room: number; turnRoom: number }>;
type StepSpec = Readonly<{
  /** A compaction before the model is asked. */
  compact: Limits | undefined;
  calls: number;
  /** Calls whose result is lost, after which the turn ends. */
  lost: number;
  stop: 'tool_use' | 'max_tokens' | 'model_context_window_exceeded' | 'pause_turn';
  size: number;
}>;
type TurnSpec = Readonly<{
  users: number;
  size: number;
  steps: readonly StepSpec[];
  /** Results that were lost before come after what is said now. */
  late: boolean;
  end: 'end_turn' | 'refusal' | 'notice' | 'none';
}>;

const limits = fc.record({
  room: fc.integer({ min: 0, max: 400 }),
  turnRoom: fc.integer({ min: 0, max: 400 }),
});
const step: fc.Arbitrary<StepSpec> = fc.record({
  compact: fc.option(limits, { nil: undefined, freq: 2 }),
  calls: fc.integer({ min: 1, max: 3 }),
  lost: fc.oneof({ weight: 6, arbitrary: fc.constant(0) }, fc.integer({ min: 1, max: 3 })),
  stop: fc.oneof(
    { weight: 5, arbitrary: fc.constant('tool_use' as const) },
    fc.constantFrom('max_tokens' as const, 'model_context_window_exceeded' as const, 'pause_turn' as const),
  ),
  size: fc.integer({ min: 0, max: 60 }),
});
const turn: fc.Arbitrary<TurnSpec> = fc.record({
  users: fc.integer({ min: 1, max: 2 }),
  size: fc.integer({ min: 0, max: 60 }),
  late: fc.boolean(),
  steps: fc.array(step, { maxLength: 5 }),
  end: fc.constantFrom('end_turn', 'refusal', 'notice', 'none'),
});

test('M9 M7 whatever a conversation was, a compaction keeps pairs whole, the turn in view and the request valid', () => {
  fc.assert(
    fc.property(
      fc.array(turn, { minLength: 1, maxLength: 5 }),
      limits,
      fc.boolean(),
      (turns, last, signed) => {
        const world = createWorld(signed);
        for (const [index, spec] of turns.entries()) world.turn(spec, index === turns.length - 1);
        world.notice();
        world.compact(last);
      },
    ),
    { numRuns: runs * 3 },
  );
});

test('M9 whatever summaries a transcript holds, the strict server takes what is made of it', () => {
  const entry: fc.Arbitrary<Entry> = fc.oneof(
    fc.constant<Entry>({ kind: 'user', content: 'words', at: 1 }),
    fc.constant<Entry>({ kind: 'notice', text: 'n', at: 1 }),
    fc
      .record({ text: fc.constantFrom('', 's'), kept: fc.nat(6), folded: fc.nat(6) })
      .map((made): Entry => ({ kind: 'summary', ...made, tokens: noTokens, at: 1 })),
    fc.constantFrom('a', 'b').map((id): Entry => answer('tool_use', [use(id)])),
    fc.constantFrom('a', 'b').map((toolUseId): Entry => resultOf(toolUseId, 'r')),
    fc.constant(answer('refusal', [])),
  );
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 12 }), (list) => {
      const seen = new Set<string>();
      const unique = list.filter((one) => {
        const [block] = one.kind === 'assistant' ? one.content : [];
        return block?.type !== 'tool_use' || (!seen.has(block.id) && seen.add(block.id));
      });
      const messages = toMessages([...unique, { kind: 'user', content: 'And?', at: 1 }]);
      assert.equal(refusalOf(messagesOnly(messages)), undefined, JSON.stringify(messages));
    }),
    { numRuns: runs },
  );
});

/** A conversation as the bot writes it, compacted where it is told to, and looked at after each compaction. */
function createWorld(signed: boolean) {
  /** As read back after each compaction. */
  let entries: Entry[] = [];
  let start = 0;
  let count = 0;
  const lostIds: string[] = [];
  /** Texts that a summary stands for, but for requests. */
  const gone = new Set<string>();

  function turn({ users, size, late, steps, end }: TurnSpec, isLast: boolean): void {
    for (let n = 0; n < users; n++) {
      entries.push({
        kind: 'user',
        ...(signed && n === 0 ? { sender: 'telegram:1' } : {}),
        content: words('user', size),
        at: 1,
      });
    }
    start = entries.length - 1;
    if (late) for (const id of lostIds.splice(0)) entries.push(resultOf(id, words('late', size)));
    for (const spec of steps) if (!step(spec)) return;
    if (isLast || end === 'none') return;
    if (end === 'notice') entries.push({ kind: 'notice', text: words('notice', 0), at: 1 });
    else entries.push(answer(end, [said(words('end', size))]));
  }

  function step({ compact: wanted, calls, lost, stop, size }: StepSpec): boolean {
    if (wanted !== undefined) compact(wanted);
    const text = said(words('step', size));
    if (stop === 'pause_turn') {
      const search = { type: 'server_tool_use', id: `srv_${++count}`, name: 'web_search', input: {} };
      entries.push(answer(stop, [text, search as Anthropic.ContentBlock]), answer('max_tokens', [text]));
      entries.push({ kind: 'notice', text: words('go on', 0), at: 1 });
      return true;
    }
    if (stop !== 'tool_use') {
      entries.push(answer(stop, [text]));
      if (stop === 'max_tokens') entries.push({ kind: 'notice', text: words('go on', 0), at: 1 });
      return true;
    }
    const ids = Array.from({ length: calls }, () => `call_${++count}`);
    entries.push(answer(stop, [text, ...ids.map(use)]));
    for (const toolUseId of ids) entries.push({ kind: 'tool_started', toolUseId, at: 1 });
    for (const id of ids.slice(lost).toReversed()) entries.push(resultOf(id, words('result', size)));
    lostIds.push(...ids.slice(0, lost));
    return lost === 0;
  }

  function compact({ room, turnRoom }: Limits): void {
    if (openCalls(entries, start)) return;
    const plan = planCompaction(entries, start, { room, turnRoom, worth: 0 });
    if (plan === undefined) return;
    const { cut, tail } = plan;
    const before = viewEntries(entries);
    const shownBefore = isShown(entries);
    const summary: Entry = {
      kind: 'summary',
      text: `summary ${++count}`,
      kept: entries.length - cut,
      ...(tail > cut ? { folded: tail - cut } : {}),
      tokens: noTokens,
      at: 1,
    };
    const after = viewEntries([...entries, summary]);
    const told = new Set(entries.filter((_, index) => index < tail && shownBefore(index)));

    assert.ok(cut <= start, 'the turn under way was cut off the journal');
    assert.equal(refusalOf(messagesOnly(toMessages([...entries, summary]))), undefined);
    const request = entries.slice(0, start + 1).findLastIndex(({ kind }) => kind !== 'user') + 1;
    const asked = entries.slice(request, start + 1);
    const own = asked.filter((entry) => entry.kind === 'user' && entry.sender !== undefined);
    for (const entry of own.length > 0 ? own : asked.slice(-1))
      assert.ok(after.includes(entry), 'the request is gone');
    for (const entry of before) {
      if (entry.kind === 'summary') continue;
      assert.ok(told.has(entry) || after.includes(entry), 'something is neither told nor shown');
    }
    const last = entries.at(-1);
    if (last?.kind === 'notice') assert.ok(after.includes(last), 'what the host said last is gone');
    assertPairs(entries, after);
    const written = JSON.stringify(toMessages([...entries, summary]));
    for (const text of gone) assert.ok(!written.includes(text), `${text} came back`);
    for (const entry of told) {
      if (after.includes(entry)) continue;
      for (const text of textsOf(entry)) gone.add(text);
    }

    entries = [...entries.slice(cut), summary];
    start -= cut;
    assert.deepEqual(viewEntries(entries), after, 'read back it looks different');
  }

  function words(what: string, size: number): string {
    return `${what} ${++count}; ${'x'.repeat(size * 4)}`;
  }

  /** As the host asks for the last words of a turn. */
  function notice(): void {
    entries.push({ kind: 'notice', text: words('sum up', 0), at: 1 });
  }

  return { turn, compact, notice };
}

/** What is shown of an answer's calls and their results is what there was of them. */
function assertPairs(entries: readonly Entry[], shown: readonly Entry[]): void {
  for (const entry of entries) {
    if (entry.kind !== 'assistant') continue;
    const ids = entry.content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []));
    const isOwn = (other: Entry): boolean => 'toolUseId' in other && ids.includes(other.toolUseId);
    const later = entries.slice(entries.indexOf(entry) + 1);
    const end = later.findIndex(({ kind }) => kind === 'assistant');
    // What comes after a further answer is no result of this one any more.
    const own = later.slice(0, end < 0 ? undefined : end).filter(isOwn);
    const seen = own.filter((other) => shown.includes(other));
    assert.deepEqual(seen, shown.includes(entry) ? own : [], 'a pair was cut');
    if (!shown.includes(entry)) continue;
    const next = later[end];
    if (!['max_tokens', 'pause_turn'].includes(entry.stopReason) || next === undefined) continue;
    assert.ok(shown.includes(next), 'what was gone on with was cut');
  }
  for (const entry of entries) {
    if (entry.kind !== 'assistant' || shown.includes(entry)) continue;
    if (!['max_tokens', 'pause_turn'].includes(entry.stopReason)) continue;
    const later = entries.slice(entries.indexOf(entry) + 1);
    const next = later.find(({ kind }) => kind === 'assistant' || kind === 'user');
    assert.ok(next !== undefined, 'an answer that is to be gone on with was cut off');
    assert.ok(
      next.kind === 'user' || !shown.includes(next),
      'an answer was parted from what it goes on from',
    );
  }
}

function openCalls(entries: readonly Entry[], start: number): boolean {
  const turn = entries.slice(start);
  const ids = turn.flatMap((entry) =>
    entry.kind === 'assistant'
      ? entry.content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []))
      : [],
  );
  return ids.some((id) => !turn.some((entry) => entry.kind === 'tool_result' && entry.toolUseId === id));
}

function textsOf(entry: Entry): readonly string[] {
  const marked = (text: string): readonly string[] => [text.slice(0, text.indexOf(';') + 1)];
  if (entry.kind === 'tool_result') return marked(entry.content);
  if (entry.kind === 'assistant')
    return entry.content.flatMap((block) => (block.type === 'text' ? marked(block.text) : []));
  return entry.kind === 'notice' ? marked(entry.text) : [];
}

function answer(stopReason: Anthropic.StopReason, content: readonly Anthropic.ContentBlock[]): Entry {
  return { kind: 'assistant', content, stopReason, tokens: noTokens, model: 'm', at: 1 };
}

function said(text: string): Anthropic.ContentBlock {
  return { type: 'text', text, citations: null };
}

function use(id: string): Anthropic.ContentBlock {
  return { type: 'tool_use', id, name: 'look', input: {}, caller: { type: 'direct' } };
}

function resultOf(toolUseId: string, content: string): Entry {
  return { kind: 'tool_result', toolUseId, content, isError: false, at: 1 };
}
