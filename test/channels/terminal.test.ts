/* eslint-disable no-control-regex -- control characters are what is looked for */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PassThrough, Readable, Writable } from 'node:stream';
import { test } from 'node:test';
import { historyFile, openHistory } from '../../src/channels/terminal/history.ts';
import { createTerminal, type TerminalOptions } from '../../src/channels/terminal/create-terminal.ts';
import type { ChannelEvent, OnEvent } from '../../src/core/channel.ts';
import type { Log } from '../../src/lib/log.ts';
import type { Message } from '../../src/core/message.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { createTerminalView } from './terminal-view.ts';

const silent: Log = { debug() {}, info() {}, warn() {}, error() {} };

type Screen = TerminalOptions['screen'];
type Parts = Partial<
  Pick<Screen, 'colour'> &
    TerminalOptions['who'] &
    TerminalOptions['typing'] &
    NonNullable<TerminalOptions['bot']>
>;

function setUp(options: Parts & Pick<Screen, 'input' | 'output'>) {
  const events: ChannelEvent[] = [];
  const waiting: ((event: ChannelEvent) => void)[] = [];
  const clock = createManualClock();
  const { input, output, colour = false, user = 'ada', as = 'private', ...bot } = options;
  const { completions = () => ['dice', 'digest', 'help'], whole = false, history } = options;
  const terminal = createTerminal({
    screen: { input, output, colour },
    who: { user, as },
    typing: { completions, whole, history },
    bot,
    clock,
    log: silent,
  });
  const onEvent: OnEvent = async (event) => {
    events.push(event);
    waiting.shift()?.(event);
  };
  return {
    terminal,
    clock,
    events,
    onEvent,
    texts: () => events.map((event) => (event.type === 'message' ? event.message.text : event.type)),
    next: () => new Promise<ChannelEvent>((resolve) => waiting.push(resolve)),
  };
}

function piped(text: string, more: Parts = {}) {
  const chunks: string[] = [];
  const output = new Writable({
    write(chunk: Buffer, _, done) {
      chunks.push(chunk.toString());
      done();
    },
  });
  return { ...setUp({ input: Readable.from([text]), output, ...more }), printed: () => chunks.join('') };
}

function messageOf(event: ChannelEvent | undefined): Message {
  assert.equal(event?.type, 'message');
  return event.message;
}

test('H5 each piped line is a message of its own, answered before the next, and the end waits for the answers', async () => {
  const answered: string[] = [];
  const pipe = piped('hello\n\n/dice 2d6\nlast', {
    idle: async () => {
      await new Promise((resolve) => setImmediate(resolve));
      const last = pipe.events.at(-1);
      if (last === undefined || answered.includes(messageOf(last).text)) return;
      answered.push(messageOf(last).text);
      await pipe.terminal.send(
        pipe.terminal.conversation,
        { markdown: `**re** ${messageOf(last).text}` },
        'k',
      );
    },
  });
  await pipe.terminal.start(pipe.onEvent);
  await pipe.terminal.closed;
  assert.deepEqual(pipe.texts(), ['hello', '/dice 2d6', 'last']);
  assert.deepEqual(answered, ['hello', '/dice 2d6', 'last']);
  assert.equal(pipe.printed(), 're hello\nre /dice 2d6\nre last\n');
  await pipe.terminal.stop();
});

test('H5 /exit in a pipe comes after what was asked before it, and ends the pipe', async () => {
  const answered = Promise.withResolvers<void>();
  const pipe = piped('hello\n/exit\nnever\n', { idle: () => answered.promise });
  let closed = false;
  await pipe.terminal.start(pipe.onEvent);
  void pipe.terminal.closed.then(() => (closed = true));
  await pipe.next();
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(closed, false);
  answered.resolve();
  await pipe.terminal.closed;
  assert.deepEqual(pipe.texts(), ['hello']);
  await pipe.terminal.stop();
});

test('H5 a message says who typed it and where, and has an id of its own', async () => {
  const pipe = piped('/Dice 2d6 \nagain');
  await pipe.terminal.start(pipe.onEvent);
  await pipe.terminal.closed;
  const [first, second] = pipe.events.map(messageOf);
  assert.deepEqual(first?.conversation, { channel: 'terminal', chat: 'ada' });
  assert.deepEqual(first?.sender, { id: 'terminal:ada', name: 'ada', kind: 'person' });
  assert.deepEqual(first?.command, { name: 'dice', args: '2d6' });
  assert.equal(first?.chatType, 'private');
  assert.equal(first?.addressed, true);
  assert.match(first?.id ?? '', /^terminal:./);
  assert.notEqual(first?.id, second?.id);
});

test('H5 --as group is a group that everybody shares', async () => {
  const pipe = piped('hi', { as: 'group', user: 'eve' });
  await pipe.terminal.start(pipe.onEvent);
  await pipe.terminal.closed;
  const message = messageOf(pipe.events[0]);
  assert.equal(message.chatType, 'group');
  assert.deepEqual(message.conversation, { channel: 'terminal', chat: 'group' });
  assert.deepEqual(await pipe.terminal.lookUpChat(message.conversation), {
    chatType: 'group',
    external: false,
  });
});

test('H5 --once sends a whole text as one message, however many lines it has', async () => {
  const pipe = piped('first\n\nsecond', { whole: true });
  await pipe.terminal.start(pipe.onEvent);
  await pipe.terminal.closed;
  assert.deepEqual(pipe.texts(), ['first\n\nsecond']);
});

test('H5 an approval is a numbered list, answered by number, label or y and n', async () => {
  const buttons = [
    { label: 'Approve', action: 'approve:1' },
    { label: 'Deny', action: 'deny:1' },
    { label: 'Details', url: 'https://x.example/' },
    { label: 'Always', action: 'always:1' },
  ];
  for (const [typed, action] of Object.entries({
    '1': 'approve:1',
    y: 'approve:1',
    n: 'deny:1',
    deny: 'deny:1',
    '3': 'always:1',
    A: 'always:1',
  })) {
    const input = new PassThrough();
    const chat = setUp({ input, output: new PassThrough() });
    await chat.terminal.start(chat.onEvent);
    const receipt = await chat.terminal.send(
      chat.terminal.conversation,
      { markdown: 'May I?', buttons },
      'k',
    );
    const pressed = chat.next();
    input.write(`${typed}\n`);
    const event = await pressed;
    assert.equal(event.type, 'press', typed);
    assert.equal(event.press.action, action);
    assert.deepEqual(event.press.receipt, receipt);
    assert.equal(event.press.sender.id, 'terminal:ada');
    const next = chat.next();
    input.write(`${typed}\n`);
    assert.equal((await next).type, 'message', 'a button can be pressed once');
    await chat.terminal.stop();
  }
});

test('H5 a piped line after a question answers it, though the message before is still under way', async () => {
  const pipe = piped('do it\ny\n', { idle: () => underWay.promise });
  const underWay = Promise.withResolvers<void>();
  await pipe.terminal.start(async (event) => {
    await pipe.onEvent(event);
    if (event.type === 'press') return underWay.resolve();
    const part = { markdown: 'May I?', buttons: [{ label: 'Approve', action: 'yes:1' }] };
    await pipe.terminal.send(pipe.terminal.conversation, part, 'k');
  });
  await pipe.terminal.closed;
  assert.deepEqual(pipe.texts(), ['do it', 'press']);
  assert.equal(pipe.printed(), 'May I?\n  [1] Approve\n');
});

test('H5 what is shown keeps the line that is being typed, and the status goes away again', async () => {
  const view = createTerminalView();
  const chat = setUp(view);
  await chat.terminal.start(chat.onEvent);
  const { conversation } = chat.terminal;
  view.type('half a li');
  await view.until((rows) => rows.at(-1) === 'ada> half a li');
  await chat.terminal.status(conversation, { kind: 'line', text: 'reading\n\u001b[2Jpages' });
  assert.deepEqual(view.rows(), ['reading pages', 'ada> half a li']);
  await chat.terminal.send(conversation, { markdown: '# Done\n\nmore' }, 'k');
  assert.deepEqual(view.rows(), ['Done', 'more', 'reading pages', 'ada> half a li']);
  await chat.terminal.status(conversation, { kind: 'line', text: 'x'.repeat(100) });
  assert.deepEqual(view.rows(), ['Done', 'more', `${'x'.repeat(38)}…`, 'ada> half a li']);
  const sent = chat.next();
  view.type('ne\r');
  assert.equal(messageOf(await sent).text, 'half a line');
  assert.deepEqual(view.rows(), ['Done', 'more', 'ada> half a line', `${'x'.repeat(38)}…`, 'ada>']);
  await chat.terminal.status(conversation, undefined);
  assert.deepEqual(view.rows(), ['Done', 'more', 'ada> half a line', 'ada>']);
  await chat.terminal.stop();
});

test('H6 words of an answer stand above the line that is being typed, grow, and give way to the answer', async () => {
  const view = createTerminalView();
  const chat = setUp(view);
  await chat.terminal.start(chat.onEvent);
  const { conversation } = chat.terminal;
  view.type('half a li');
  await view.until((rows) => rows.at(-1) === 'ada> half a li');
  await chat.terminal.status(conversation, { kind: 'words', markdown: '# So\n\nIt \u001b[2J*is*' });
  assert.deepEqual(view.rows(), ['So', 'It is', 'ada> half a li']);
  await chat.terminal.status(conversation, {
    kind: 'words',
    markdown: `# So\n\nIt is\n\n${'x'.repeat(100)}`,
  });
  assert.ok(view.rows().every((row) => row.length <= 40));
  assert.deepEqual(view.rows().slice(0, 2), ['So', 'It is']);
  await chat.terminal.status(conversation, { kind: 'words', markdown: 'line\n\n'.repeat(100) });
  assert.ok(view.rows().length < 24, 'the last lines that fit');
  await chat.terminal.status(conversation, undefined);
  await chat.terminal.send(conversation, { markdown: '# So\n\nIt is so.' }, 'k');
  assert.deepEqual(view.rows(), ['So', 'It is so.', 'ada> half a li']);
  await chat.terminal.stop();
});

test('H6 an answer that grows is shown in its own place', async () => {
  const view = createTerminalView();
  const chat = setUp(view);
  await chat.terminal.start(chat.onEvent);
  const { conversation } = chat.terminal;
  const receipt = await chat.terminal.send(conversation, { markdown: 'One' }, 'k');
  await chat.terminal.edit(conversation, receipt, { markdown: 'One two\n\nthree' });
  await chat.terminal.edit(conversation, receipt, { markdown: 'One two\n\nthree four' });
  assert.deepEqual(view.rows(), ['One two', 'three four', 'ada>']);
  await chat.terminal.send(conversation, { markdown: 'Next' }, 'k2');
  await chat.terminal.edit(conversation, receipt, { markdown: 'Late' });
  assert.deepEqual(view.rows(), ['One two', 'three four', 'Next', 'Late', 'ada>']);
  await chat.terminal.stop();
});

test('H5 names after a slash are completed, and earlier lines come back', async () => {
  const view = createTerminalView();
  const chat = setUp(view);
  await chat.terminal.start(chat.onEvent);
  const sent = chat.next();
  view.type('/he\t');
  await view.until((rows) => rows.at(-1) === 'ada> /help');
  view.type('me\r');
  assert.deepEqual(messageOf(await sent).command, { name: 'help', args: 'me' });
  const again = chat.next();
  view.type('\u001b[A');
  await view.until((rows) => rows.at(-1) === 'ada> /help me');
  view.type('\r');
  assert.equal(messageOf(await again).text, '/help me');
  await chat.terminal.stop();
});

test('H5 pasted lines are one message, sent by the Enter after them', async () => {
  const view = createTerminalView();
  const chat = setUp(view);
  await chat.terminal.start(chat.onEvent);
  const sent = chat.next();
  view.type('\u001b[200~one\rtwo\nthree\u001b[201~');
  await view.until((rows) => rows.at(-1) === 'ada> three');
  await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(chat.events, []);
  view.type(' end\r');
  assert.equal(messageOf(await sent).text, 'one\ntwo\nthree end');
  const unmarked = chat.next();
  view.type('a\rb\rc\r');
  assert.equal(messageOf(await unmarked).text, 'a\nb\nc', 'where the terminal does not mark what is pasted');
  await chat.terminal.stop();
});

test('H5 Ctrl-C stops the run, says so only then, and twice within two seconds leaves', async () => {
  const view = createTerminalView();
  const runs = [true, false];
  const chat = setUp({ ...view, cancel: async () => runs.shift() === true });
  let left = false;
  void chat.terminal.closed.then(() => (left = true));
  await chat.terminal.start(chat.onEvent);
  view.type('\u0003');
  await view.until((rows) => rows.includes('Stopped. Ctrl-C again leaves.'));
  await chat.clock.advance(2500);
  view.type('\u0003');
  await view.until((rows) => rows.includes('Ctrl-C again leaves.'));
  assert.deepEqual([runs, left], [[], false]);
  await chat.clock.advance(1000);
  view.type('\u0003');
  await chat.terminal.closed;
  await chat.terminal.stop();
});

test('H5 Ctrl-C on half a line clears that line and stops nothing', async () => {
  const view = createTerminalView();
  const chat = setUp({ ...view, cancel: () => Promise.reject(new Error('nothing is to be stopped')) });
  await chat.terminal.start(chat.onEvent);
  const sent = chat.next();
  for (const half of ['half a line', '\u001b[200~one\rtwo\u001b[201~']) {
    view.type(half);
    await view.until((rows) => rows.some((row) => /half a line|two/.test(row)));
    view.type('\u001b[D\u0003');
    await view.until((rows) => rows.at(-1) === 'ada>');
  }
  view.type('whole\r');
  assert.equal(messageOf(await sent).text, 'whole');
  assert.ok(!view.rows().some((row) => row.includes('Ctrl-C')));
  await chat.terminal.stop();
});

test('H5 a log line stands above the prompt and above an answer that grows, and moves neither', async () => {
  const view = createTerminalView();
  const chat = setUp(view);
  await chat.terminal.start(chat.onEvent);
  const { conversation } = chat.terminal;
  view.type('half a li');
  await view.until((rows) => rows.at(-1) === 'ada> half a li');
  chat.terminal.note('10:00:00 warn  first\u001b[2J\n');
  assert.deepEqual(view.rows(), ['10:00:00 warn first', 'ada> half a li']);
  const receipt = await chat.terminal.send(conversation, { markdown: 'One' }, 'k');
  await chat.terminal.status(conversation, { kind: 'typing' });
  chat.terminal.note('10:00:01 warn  second\n');
  await chat.terminal.edit(conversation, receipt, { markdown: 'One two' });
  assert.deepEqual(view.rows(), [
    '10:00:00 warn first',
    '10:00:01 warn second',
    'One two',
    '…',
    'ada> half a li',
  ]);
  await chat.terminal.stop();
});

test('H5 /exit and Ctrl-D leave', async () => {
  for (const typed of ['/exit\r', '\u0004']) {
    const view = createTerminalView();
    const chat = setUp(view);
    await chat.terminal.start(chat.onEvent);
    view.type(typed);
    await chat.terminal.closed;
    assert.deepEqual(chat.events, []);
    await chat.terminal.stop();
    assert.match(view.raw(), /\u001b\[\?2004l/, 'what is pasted is marked no more');
  }
});

test('S1 nothing that a model, a button or a status says reaches the terminal as a control sequence', async () => {
  const evil = '\u001b]0;title\u0007\u001b[2J\u009b31m\u0007\u0008\u202ex &#27;[1m &#x9b;2J';
  const pipe = piped('', { colour: true });
  const { conversation } = pipe.terminal;
  const part = {
    markdown: `# ${evil}\n\n${evil} \`${evil}\` [${evil}](https://x.example/${evil})\n\n\`\`\`${evil}\n${evil}\n\`\`\``,
    buttons: [{ label: evil, action: 'a' }],
  };
  await pipe.terminal.send(conversation, part, 'k');
  const left = pipe
    .printed()
    .replace(/\u001b\[(?:1|22|36|39|4|24)m/g, '')
    .match(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/g);
  assert.equal(left, null);
  await pipe.terminal.stop();
});

test('H5 a message that could not be stored is said, and the chat goes on', async () => {
  const pipe = piped('one\ntwo\n');
  await pipe.terminal.start(async (event) => {
    await pipe.onEvent(event);
    if (pipe.events.length === 1) throw new Error('disk full');
  });
  await pipe.terminal.closed;
  assert.deepEqual(pipe.texts(), ['one', 'two']);
  assert.equal(pipe.printed(), 'That could not be stored. Please try again.\n');
});

test('H5 when the output is gone a send is refused and the chat ends', async () => {
  const output = new Writable({ write: (_chunk, _encoding, done) => done(new Error('EPIPE')) });
  const chat = setUp({ input: new PassThrough(), output });
  await chat.terminal.start(chat.onEvent);
  await assert.rejects(chat.terminal.send(chat.terminal.conversation, { markdown: 'x' }, 'k'), {
    name: 'SendError',
    outcome: 'refused',
  });
  await chat.terminal.closed;
  await chat.terminal.stop();
});

test('H5 what was typed in a session before comes back, Ctrl-R finds it, and no file holds what may be secret', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'history-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, 'state', 'history');
  const session = async (typed: (view: ReturnType<typeof createTerminalView>) => Promise<void>) => {
    const view = createTerminalView(60);
    const chat = setUp({ ...view, history: openHistory(file) });
    await chat.terminal.start(chat.onEvent);
    await typed(view);
    await chat.terminal.stop();
    return chat.texts();
  };
  const lines = ['roll 2d6', 'roll 4d6', 'hello', '/settings tool key s3cret', ' not this', '/connect x'];
  await session(async (view) => {
    for (const line of lines) {
      view.type(`${line}\r`);
      await view.until((rows) => rows.some((row) => row.endsWith(line)) && rows.at(-1) === 'ada>');
    }
  });
  assert.equal(readFileSync(file, 'utf8'), 'roll 2d6\nroll 4d6\nhello\n');
  assert.equal(statSync(file).mode & 0o777, 0o600);
  const again = await session(async (view) => {
    view.type('\u001b[A');
    await view.until((rows) => rows.at(-1) === 'ada> hello');
    view.type('\u0003');
    await view.until((rows) => rows.at(-1) === 'ada>');
    view.type('roll');
    for (const found of ['roll 4d6', 'roll 2d6']) {
      view.type('\u0012');
      await view.until((rows) => rows.at(-1) === `ada> ${found}`);
    }
    view.type('\u0012!\r');
    await view.until((rows) => rows.includes('ada> roll 2d6!'));
  });
  assert.deepEqual(again, ['roll 2d6!']);
});

test('H5 a history that can’t be read or written is none, and a long one is cut', (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'history-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const blocked = openHistory(folder);
  blocked.add('lost');
  assert.deepEqual(blocked.lines, []);
  const file = path.join(folder, 'history');
  writeFileSync(file, Array.from({ length: 1_200 }, (_, n) => `line ${n}\n`).join(''));
  assert.equal(openHistory(file).lines[0], 'line 1199');
  assert.equal(readFileSync(file, 'utf8').split('\n').length - 1, 500);
  assert.equal(historyFile({ HOME: '/home/ada' }), '/home/ada/.local/state/skillet/history');
  assert.equal(historyFile({ HOME: '/home/ada', XDG_STATE_HOME: '/state' }), '/state/skillet/history');
  assert.equal(historyFile({}), undefined);
});

test('H5 Alt-Enter begins another line of the same message', async () => {
  const view = createTerminalView();
  const chat = setUp(view);
  await chat.terminal.start(chat.onEvent);
  const sent = chat.next();
  view.type('one\u001b\rtwo\r');
  assert.equal(messageOf(await sent).text, 'one\ntwo');
  await chat.terminal.stop();
});

test('H5 below an answer stand its model, cost and time, until the next one', async () => {
  const view = createTerminalView(60);
  const today = { model: 'sonnet', tokens: 1_000, usd: 0.5 };
  const chat = setUp({ ...view, spent: async () => ({ ...today }) });
  await chat.terminal.start(chat.onEvent);
  const { conversation } = chat.terminal;
  const ask = async () => {
    const sent = chat.next();
    view.type('hello\r');
    await sent;
    await chat.terminal.status(conversation, { kind: 'typing' });
    await view.until((rows) => rows.at(-2) === '…');
    await chat.clock.advance(3_100);
  };
  await ask();
  Object.assign(today, { tokens: 3_500, usd: 0.5123 });
  await chat.terminal.send(conversation, { markdown: 'Hi.' }, 'k');
  await chat.terminal.status(conversation, undefined);
  await view.until((rows) => rows.at(-2) === 'sonnet · $0.0123 · 3.1 s');
  await ask();
  Object.assign(today, { tokens: 4_734 });
  await chat.terminal.send(conversation, { markdown: 'Hi.' }, 'k2');
  await view.until((rows) => rows.at(-2) === 'sonnet · 1,234 tokens · 3.1 s');
  await chat.terminal.stop();
});
