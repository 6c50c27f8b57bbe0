import type { ServerStep, Wire } from '../../servers/messages/answer.ts';
import type { MessagesRequest } from '../../servers/messages/request-shape.ts';
import { createWatch } from '../../servers/slack/watch.ts';

/** The scripted model of a crash run, and what it saw of the effects of its calls. */
export type CrashModel = Readonly<{
  script(body: MessagesRequest): ServerStep;
  /** Calls of `skills_run_script` asked for, answers that never arrived included. */
  asked(): number;
  /** Marks that a script left more than once, or twice for one step: calls carried out again although they must not be. */
  markedTwice(): readonly string[];
  /** Ids of calls that it was told were cut off: `toolu_n17_` and a number. */
  interrupted(): readonly string[];
  /** Resolves when an answer to this token is asked for, and every earlier request was. */
  askedFor(token: string): Promise<void>;
  /** Lets `slow` answers end. */
  release(): void;
}>;

/**
 * Answers by what stands in the request alone, so that it can be asked again after any kill. A message is a verb and a
 * token such as `n17`:
 *
 * - `say n17` is answered at once, `slow n17` when `release` is called;
 * - `list n17` calls two read-only tools first;
 * - `mark n17` calls `use_skill`, whose run marks twice with a script that must not be repeated and reads a file between.
 *
 * Each call of the script leaves a mark of its own in the run's ledger, which every later call prints.
 */
export function crashModel(options: { delayMs?: number } = {}): CrashModel {
  const wire = { delayMs: options.delayMs ?? 15, pings: false };
  const twice = new Set<string>();
  const cutOff = new Set<string>();
  const released = Promise.withResolvers<void>();
  const askedFor = createWatch<string>();
  let calls = 0;

  function look(body: MessagesRequest): void {
    for (const block of body.messages.flatMap(({ content }) =>
      typeof content === 'string' ? [] : content,
    )) {
      if (block.type !== 'tool_result') continue;
      const text = JSON.stringify(block.content ?? '');
      if (text.includes('interrupted: the call was cut off')) cutOff.add(block.tool_use_id);
      const marks: readonly string[] = text.match(/\bn\d+\.\d\.c\d+\b/g) ?? [];
      const steps = marks.map((mark) => mark.slice(0, mark.lastIndexOf('.')));
      marks.forEach((mark, at) => {
        if (marks.indexOf(mark) !== at || steps.indexOf(steps[at] ?? '') !== at) twice.add(mark);
      });
    }
  }

  const use = (
    token: string,
    ...blocks: readonly (readonly [name: string, input: unknown])[]
  ): ServerStep => ({
    content: blocks.map(([name, input]) => ({
      type: 'tool_use',
      name,
      input,
      id: `toolu_${token}_${++calls}`,
    })),
    wire,
  });
  const answer = (text: string, how: Wire = wire): ServerStep => ({
    content: [{ type: 'text', text }],
    wire: how,
  });

  return {
    script(body) {
      look(body);
      if (JSON.stringify(body.system).includes('You keep the memory')) return answer(summaryText);
      const { token, verb, steps, open } = whereItStands(body);
      // What a run gave that was given up answers nothing that somebody said.
      if (isResultWithoutToken(body)) return answer('A run has ended.');
      askedFor.add(token);
      if (JSON.stringify(body.system).includes('You carry out the skill')) {
        const mark = (step: number): ServerStep =>
          use(token, [
            'skills_run_script',
            { path: 'scripts/mark.sh', args: [`${token}.${step}.c${calls + 1}`] },
          ]);
        if (steps === 0) return mark(1);
        if (steps === 1) return use(token, ['skills_read_file', { path: 'scripts/mark.sh' }]);
        return steps === 2 ? mark(2) : answer(`marked ${token}`);
      }
      if (steps === 0 && verb === 'list')
        return use(token, ['skills_list', {}], ['skills_search', { query: 'ledger' }]);
      if (steps === 0 && verb === 'mark')
        return use(token, ['use_skill', { skill: 'ledger', message: `mark ${token}` }]);
      if (verb === 'slow') return answer(`answer ${open}`, { ...wire, hold: released.promise });
      return answer(`answer ${open}`);
    },
    asked: () => calls,
    markedTwice: () => [...twice],
    interrupted: () => [...cutOff],
    async askedFor(token) {
      await askedFor.until((each) => each === token);
    },
    release: () => released.resolve(),
  };
}

/** What it says when it is asked for a summary. */
export const summaryText = 'They talked for a while.';

/** Whether the last thing told is the result of a run, and no token stands in it. */
function isResultWithoutToken({ messages }: MessagesRequest): boolean {
  const last = JSON.stringify(messages.at(-1)?.content);
  const at = last.lastIndexOf('The background run');
  return at >= 0 && !/\bn\d+\b/.test(last.slice(at));
}

/**
 * The token of the last thing a person said, what a run gets as context left out, how many answers were given to it, and
 * the tokens that have no final answer yet: several where messages joined a turn (H11).
 */
function whereItStands({
  messages,
}: MessagesRequest): Readonly<{ token: string; verb: string; steps: number; open: string }> {
  const texts = messages.map(({ role, content }) => {
    if (role !== 'user') return '';
    const text =
      typeof content === 'string'
        ? content
        : content.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
    return text.replace(/<context>.*<\/context>/s, '');
  });
  const at = texts.findLastIndex((text) => /\bn\d+\b/.test(text));
  const [, verb = '', token = 'n0'] =
    [...(texts[at] ?? '').matchAll(/(?:\b(\w+) )?\b(n\d+)\b/g)].at(-1) ?? [];
  const isOpen = (index: number): boolean =>
    messages[index]?.role !== 'assistant' ||
    JSON.stringify(messages[index].content).includes('"tool_use"') ||
    (texts[index + 1] ?? '').includes('Your last answer was not sent.');
  const begins = messages.findLastIndex((_, index) => !isOpen(index)) + 1;
  const open = texts.slice(begins).flatMap((text) => text.match(/\bn\d+\b/g) ?? []);
  return {
    token,
    verb,
    steps: messages.slice(at + 1).filter(({ role }) => role === 'assistant').length,
    open: [...new Set([...open, token])].join(' '),
  };
}
