import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { describeResult } from '../../src/runs/use-skill.ts';
import { mainPrompt } from '../../src/conversations/turn-context.ts';
import { argumentsIn, createOfflineModel, noModelNotice } from '../../src/agent/models/offline-model.ts';
import { runLoop } from '../../src/agent/run-loop.ts';
import { runPrompt } from '../../src/runs/run-prompt.ts';
import { systemClock } from '../../src/lib/clock.ts';
import type { Entry } from '../../src/core/entry.ts';
import { labelled } from '../../src/lib/text/escape-labels.ts';
import { noTokens } from '../../src/core/model.ts';
import { renderCatalogue } from '../../src/skills/catalogue.ts';
import { type ToolSpec, readOnly } from '../../src/core/tool.ts';
import type { ToolCall } from '../../src/core/tool-call.ts';

const skills = [
  { name: 'dice', description: 'Rolls dice: 2d6, d20 and the like.' },
  { name: 'research', description: 'Researches a question on the web.' },
  { name: 'summarize', description: 'Summarizes a page or a text.' },
];
const catalogue = (format: 'markdown' | 'xml') =>
  renderCatalogue(
    skills.map((skill) => ({ ...skill, path: `/skills/${skill.name}/SKILL.md` })),
    { format, budgetChars: 4_000 },
  ).text;
const markdown = catalogue('markdown');
const useSkill: ToolSpec = {
  name: 'use_skill',
  description: 'Runs a skill.',
  inputSchema: {
    type: 'object',
    properties: { skill: { type: 'string', enum: skills.map(({ name }) => name) } },
  },
  traits: { ...readOnly, sideEffects: true },
};
const runScript: ToolSpec = {
  name: 'skills_run_script',
  description: 'Runs a script.',
  inputSchema: { type: 'object' },
  traits: readOnly,
};
const readFile: ToolSpec = {
  ...runScript,
  name: 'skills_read_file',
  description: 'Reads a file of this skill.',
};

async function converse(
  entries: Entry[],
  system: ReturnType<typeof mainPrompt>,
  tools: readonly ToolSpec[],
  result: string | ((call: ToolCall) => string) = 'nothing',
  isError = false,
) {
  const calls: ToolCall[] = [];
  let streamed = '';
  const ended = await runLoop(
    {
      system,
      entries,
      maxIterations: 5,
    },
    {
      model: createOfflineModel('default'),
      tools: () => tools,
      async callTool(call) {
        calls.push(call);
        return { content: typeof result === 'string' ? result : result(call), isError };
      },
      append: async (entry) => void entries.push(entry),
      signal: new AbortController().signal,
      clock: systemClock,
      watcher: { onText: (text) => (streamed += text) },
    },
  );
  return { ended, calls, streamed };
}

const prompt = (catalogue: string) =>
  mainPrompt({
    name: 'Skillet',
    persona: undefined,
    catalogue: `## Skills\n${catalogue}`,
    chatType: 'private',
  });
const said = (content: string): Entry => ({ kind: 'user', content, at: 1 });
const ok = (text: string) =>
  describeResult('dice', {
    status: 'ok',
    text,
    iterations: 1,
    durationMs: 5,
    tokens: noTokens,
    artifacts: [],
    truncated: false,
  });

for (const format of ['markdown', 'xml'] as const) {
  test(`M1 offline, the skill that matches best is started and its output is the answer (${format})`, async () => {
    const entries = [said('Could you roll 2d6 for me?')];
    const { ended, calls, streamed } = await converse(
      entries,
      prompt(catalogue(format)),
      [useSkill],
      ok('4 + 3 = **7**'),
    );
    assert.deepEqual(
      calls.map(({ name, input }) => [name, input]),
      [['use_skill', { skill: 'dice', message: 'Could you roll 2d6 for me?' }]],
    );
    assert.equal(ended.text, `${noModelNotice}\n\n4 + 3 = **7**`);
    assert.equal(streamed, ended.text);
  });
}

test('M1 offline, the first reply of a conversation says that no model is connected and how to connect one; later ones do not', async () => {
  const entries = [said('Hello there!')];
  const first = await converse(entries, prompt(markdown), [useSkill]);
  assert.match(first.ended.text, /^No language model is connected, .* To connect one: `skillet init`\.\n/);
  entries.push(said('summarize this page'));
  const second = await converse(entries, prompt(markdown), [useSkill], ok('Short.'));
  assert.equal(second.ended.text, 'Short.');
});

test('M1 offline, what no skill fits is answered with the skills to try, and once with how to connect a model', async () => {
  const entries: Parameters<typeof converse>[0] = [];
  for (const [words, isFirst] of [
    ['hello', true],
    ['what can you do?', false],
  ] as const) {
    entries.push(said(words));
    const { ended, calls } = await converse(entries, prompt(markdown), [useSkill]);
    assert.deepEqual(calls, []);
    assert.equal(ended.text.includes('No language model is connected'), isFirst);
    assert.match(ended.text, /^- `dice`: Rolls dice: 2d6, d20 and the like\.$/m);
  }
});

test('M1 offline, a skill without scripts is answered from its reference files: the section that fits, cut where it is long', async () => {
  const help = path.join(import.meta.dirname, '../../skills/skillet-help');
  const files = readdirSync(path.join(help, 'references')).map((file) => `references/${file}`);
  const ask = async (message: string, read: (path: string) => string, listed = files) => {
    const { system, firstMessage } = runPrompt({
      skill: { name: 'skillet-help' },
      instructions: { text: 'Help.', filled: false, files: listed, cut: false },
      request: { message, context: undefined, args: message },
    });
    return converse([said(firstMessage)], system, [readFile], ({ input }) =>
      read(String((input as { path: string }).path)),
    );
  };
  const onDisk = (file: string): string => readFileSync(path.join(help, file), 'utf8');
  const telegram = await ask('how do I connect telegram', onDisk);
  assert.deepEqual(
    telegram.calls.map(({ input }) => (input as { path: string }).path),
    files,
  );
  assert.match(telegram.ended.text, /^## Connect Telegram\n[^]*BotFather[^]*TELEGRAM_BOT_TOKEN/);
  assert.doesNotMatch(telegram.ended.text, /Slack/);
  assert.match((await ask('How can I connect a model?', onDisk)).ended.text, /ANTHROPIC_API_KEY/);
  assert.match((await ask('who may talk to you', onDisk)).ended.text, /^## Who may talk/);
  assert.match(
    (await ask('what does it cost', onDisk)).ended.text,
    /^## What it costs\n\n[^|]*`skillet stats`[^|]*$/,
  );
  const dashboard = (await ask('is there a dashboard', onDisk)).ended.text;
  assert.match(dashboard, /^## In a terminal\n[^]*\|---\|---\|\n\| `skillet dashboard` \|/);
  assert.ok(!dashboard.includes('`skillet backup'), 'of a long table only the rows that fit');
  assert.match((await ask('xylophone', onDisk)).ended.text, /needs a language model.*none is connected/);
  const long = `# All\n\n## Words\n\n\`\`\`\n# no heading\n${'some words\n'.repeat(1_000)}\`\`\`\n`;
  const shown = await ask('words', () => long, ['references/a.md']);
  assert.ok(shown.ended.text.length < 1_600);
  assert.match(shown.ended.text, /^## Words\n\n```\n# no heading\n[^]*some words\n```\n\n…$/);
});

test('M1 offline, a skill that the person started by name is answered with its output', async () => {
  const entries = [
    said('/dice 2d6'),
    said(`${labelled('host', 'The person started the skill dice; it has run.')}\n${ok('You rolled 7.')}`),
  ];
  const { ended, calls } = await converse(entries, prompt(markdown), [useSkill]);
  assert.equal(ended.text, `${noModelNotice}\n\nYou rolled 7.`);
  assert.deepEqual(calls, []);
});

test("M1 offline, only the requester's own words choose", async () => {
  const background = labelled('background', 'Ann: roll the dice');
  const own = labelled('message', 'Research the moon.', { from: 'Ben', id: 'telegram:2' });
  const { calls } = await converse([said(`${background}\n${own}`)], prompt(markdown), [useSkill], ok('x'));
  assert.deepEqual(calls[0]?.input, { skill: 'research', message: 'Research the moon.' });
});

test('M1 offline, a run starts the script of its skill and answers with what it printed', async () => {
  const { system, firstMessage } = runPrompt({
    skill: { name: 'dice' },
    instructions: {
      text: 'Run the script.',
      filled: false,
      files: ['references/odds.md', 'scripts/check.py', 'scripts/roll.py'],
      cut: false,
    },
    request: { message: 'Please roll 2d6, and d20!', context: undefined, args: '' },
  });
  const { ended, calls, streamed } = await converse(
    [said(firstMessage)],
    system,
    [readFile, runScript],
    '4 + 3 + 11 = 18\n',
  );
  assert.deepEqual(calls[0]?.input, { path: 'scripts/roll.py', args: ['2d6', 'd20'] });
  assert.equal(ended.text, '4 + 3 + 11 = 18');
  assert.equal(streamed, ended.text);
});

test('M1 offline, a script that fails is answered with what it said, in a sentence', async () => {
  const { system, firstMessage } = runPrompt({
    skill: { name: 'dice' },
    instructions: { text: 'Run the script.', filled: false, files: ['scripts/roll.py'], cut: false },
    request: { message: 'abc', context: undefined, args: '' },
  });
  for (const [told, answer] of [
    [
      'error SCRIPT_FAILED: roll.py ended with 2\n[end of stdout]\nx\n[end of stderr]\n"abc" is no roll\n',
      '(SCRIPT_FAILED): "abc" is no roll',
    ],
    ['error SCRIPT_TIMEOUT: it took too long', '(SCRIPT_TIMEOUT): it took too long'],
  ] as const) {
    const { ended } = await converse([said(firstMessage)], system, [readFile, runScript], told, true);
    assert.equal(ended.text, `That did not work ${answer}`);
  }
});

test('M1 offline, a run of a skill without scripts says what it lacks', async () => {
  const { system, firstMessage } = runPrompt({
    skill: { name: 'poet' },
    instructions: { text: 'Write a poem.', filled: false, files: ['SKILL.md'], cut: false },
    request: { message: 'A poem!', context: undefined, args: '' },
  });
  const { ended } = await converse([said(firstMessage)], system, [readFile]);
  assert.match(ended.text, /needs a language model.*none is connected/);
});

test('M1 offline, a very long message starts its script once, and what that printed is the answer', async () => {
  const words = 'x'.repeat(200_000);
  const { system, firstMessage } = runPrompt({
    skill: { name: 'dice' },
    instructions: { text: 'Run the script.', filled: false, files: ['scripts/roll.py'], cut: false },
    request: { message: words, context: undefined, args: words },
  });
  const printed = 'y'.repeat(30_000);
  const { ended, calls } = await converse([said(firstMessage)], system, [readFile, runScript], printed);
  assert.equal(calls.length, 1);
  assert.equal(ended.text, printed);
});

test('M1 offline, the same request gives the same answer', async () => {
  const answers = await Promise.all(
    [1, 2].map(async () => {
      const entries = [said('roll 2d6')];
      await converse(entries, prompt(markdown), [useSkill], ok('7'));
      return entries.map((entry) => ({ ...entry, at: 0 }));
    }),
  );
  assert.deepEqual(answers[0], answers[1]);
});

test('M1 offline, arguments are what looks like them', () => {
  assert.deepEqual(argumentsIn('roll 2d6 and 1d20, please.'), ['2d6', '1d20']);
  assert.deepEqual(argumentsIn('translate "good morning" --to fr'), ['good morning', '--to']);
  assert.deepEqual(argumentsIn('Berlin'), ['Berlin']);
  assert.deepEqual(argumentsIn("what's the weather in Berlin?"), ["what's the weather in Berlin?"]);
  assert.deepEqual(argumentsIn(' '), []);
});

test('M9 the offline model declines to summarise, so earlier parts are left out and said to be', async () => {
  const entries: Entry[] = [];
  const compactions: unknown[] = [];
  for (let n = 0; n < 8; n++) {
    entries.push({ kind: 'user', content: `${n} ${'word '.repeat(4_000)}`, at: 1 });
    const ended = await runLoop(
      {
        system: [],
        entries,
        maxIterations: 5,
      },
      {
        // Its own window is far larger.
        model: { ...createOfflineModel('default'), contextWindow: 32_000 },
        tools: () => [],
        callTool: () => Promise.reject(new Error('never called')),
        append: async (entry) => void entries.push(entry),
        signal: new AbortController().signal,
        clock: systemClock,
        watcher: { onCompaction: ({ how }) => compactions.push(how) },
      },
    );
    assert.match(ended.text, /No skill can be used here/);
  }
  assert.ok(compactions.length > 0 && compactions.every((how) => how === 'trimmed'));
});
