import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { chatFolder } from '../../src/tools/built-in/run-folders.ts';
import { findProgram } from '../../src/sandbox/inside-sandbox.ts';
import { bubblewrapHere } from '../support/bubblewrap-here.ts';
import { isRun, resultsIn, type ScriptedCall } from '../support/call-steps.ts';
import type { ServerStep } from '../servers/messages/answer.ts';
import type { MessagesRequest } from '../servers/messages/request-shape.ts';
import { startWebSite } from '../servers/web-site.ts';
import { startWholeBot, type WholeBot } from '../support/whole-bot.ts';

// Skills as they are found in public, which know nothing of this bot: see docs/public-skills.md.
const folder = path.join(import.meta.dirname, '../support/public-skills');
const config = `[access]
dm = "open"
users = ["slack:*"]
[skills]
bundled = false
user_dir = "${folder}"
`;
const { skip } = bubblewrapHere;

/** A model that has a skill used where nobody has started it yet; in the run it makes these calls and ends with the last result. */
function model(skill: string, calls: readonly ScriptedCall[]): (request: MessagesRequest) => ServerStep {
  return (request) => {
    const results = resultsIn(request);
    const call = (name: string, input: unknown): ServerStep => ({
      content: [{ type: 'tool_use', id: `toolu_${results.length}`, name, input }],
      stopReason: 'tool_use',
    });
    if (isRun(request)) {
      const next = calls[results.length];
      return next === undefined ? `The run says: ${results.at(-1)}` : call(next.name, next.input);
    }
    const last = JSON.stringify(request.messages.at(-1));
    const [, result, refused] =
      /<output>(.*?)<\/output>|error ((?:SKILL|MISSING)_[A-Z]+: .*)/s.exec(last) ?? [];
    return result === undefined && refused === undefined
      ? call('use_skill', { skill, message: 'as asked' })
      : `Here it is. ${plain(result ?? refused ?? '')}`;
  };
}

/** What stood in JSON within JSON, as a person reads it. */
const plain = (text: string): string => text.replace(/\\+n/g, '\n').replace(/\\+"/g, '"');

const runResults = ({ messages }: WholeBot): readonly string[] =>
  resultsIn(messages.requests.map(({ body }) => body).findLast(isRun) ?? assert.fail('no run'));

const isWorkbook = (bytes: Buffer | undefined): boolean => bytes?.subarray(0, 2).toString() === 'PK';

test(
  'R1 R4 R5 T12 a document skill reads its reference, builds a file with its own Python and hands it over, on both platforms',
  { skip },
  async (t) => {
    const rows = { title: 'Trip', columns: ['what', 'EUR'], rows: [['Train', 89.5]], total: ['EUR'] };
    const bot = await startWholeBot(t, {
      sandbox: 'auto',
      toml: config,
      channels: ['telegram', 'slack'],
      script: model('workbook', [
        { name: 'read_file', input: { path: 'references/formulas.md' } },
        { name: 'write_file', input: { path: 'rows.json', content: JSON.stringify(rows) } },
        // As its instructions write it, though they are not where the working directory is.
        { name: 'bash', input: { command: 'python scripts/build.py rows.json trip.xlsx' } },
        { name: 'bash', input: { command: 'python scripts/check.py trip.xlsx' } },
        { name: 'send_file', input: { path: 'trip.xlsx', caption: 'Your **workbook**' } },
      ]),
    });
    const ann = bot.telegram.person({ name: 'Ann' });
    ann.says('/workbook my trip');
    const sent = await ann.dm.nextFile('trip.xlsx');
    assert.ok(isWorkbook(sent.file.bytes));
    assert.equal(sent.text, 'Your workbook');
    await ann.dm.nextMessage(/Here it is/);
    const [reference, , built, checked] = runResults(bot);
    assert.match(reference ?? '', /Numbers stay numbers/);
    assert.match(built ?? '', /Wrote trip\.xlsx: 1 rows, 2 columns/);
    assert.match(checked ?? '', /sheet1\.xml: 5 cells, 1 formulas\\nOK/);

    const { slack } = bot;
    const anna = slack.workspace.addUser('anna');
    slack.people.dm(anna, 'put my trip into a spreadsheet');
    const { files = [] } = await slack.posted(({ files: some }) => some !== undefined);
    assert.equal(files[0]?.['name'], 'trip.xlsx');
    assert.ok(isWorkbook(slack.bytesOf(String(files[0]?.['id']))));
    await slack.posted(({ text }) => text.includes('Here it is'));
  },
);

test(
  'R5 U3 T8 T9 a skill that says in the words of OpenClaw what it needs gets its key, and its host after a yes, on both platforms',
  { skip },
  async (t) => {
    const key = 'tide-key-0123456789';
    const asked: (string | undefined)[] = [];
    const api = await startWebSite((request, answer) => {
      asked.push(`${request.url} ${request.headers.authorization}`);
      answer.end(`high 06:12 7.1 m, low 12:20 1.3 m, for ${request.headers.authorization}\n`);
    });
    t.after(() => api.close());
    const bot = await startWholeBot(t, {
      sandbox: 'auto',
      toml: `${config}[skills.tide-times]
network = ["api.tidewatch.test"]
TIDEWATCH_URL = "${api.url('', 'api.tidewatch.test')}"
TIDEWATCH_API_KEY = "${key}"
`,
      channels: ['telegram', 'slack'],
      reach: { connect: api.connect, ports: [api.port] },
      script: model('tide-times', [
        // What `{baseDir}/scripts/tides.sh brest` has become.
        { name: 'bash', input: { command: '/skill/scripts/tides.sh brest 2' } },
      ]),
    });
    const ann = bot.telegram.person({ name: 'Ann' });
    ann.says('when is high water in Brest?');
    const question = await ann.dm.nextMessage(/wants to use/);
    assert.match(question.text, /tides\.sh brest 2/);
    ann.presses(question.id, 'Approve');
    const answer = await ann.dm.nextMessage(/Here it is/);
    assert.match(answer.text, /high 06:12 7\.1 m.*for Bearer \[redacted TIDEWATCH_API_KEY\]/s);
    assert.deepEqual(asked, [`/v1/harbours/brest/tides?days=2 Bearer ${key}`]);

    const { slack } = bot;
    const anna = slack.workspace.addUser('anna');
    await slack.people.slash(anna, slack.workspace.dmWith(anna.id), 'tide-times brest');
    const card = await slack.posted(({ text }) => text.includes('wants to use'));
    await slack.people.press(anna, card, 'Approve');
    await slack.posted(({ text }) => text.includes('high 06:12'));
    assert.equal(asked.length, 2);
    assert.ok(!JSON.stringify(bot.messages.requests.map(({ body }) => body)).includes(key));
  },
);

test(
  'T5 I5 R7 a skill in the words of Claude Code: arguments, git alone of all commands, its references, uv run without packages',
  { skip: skip === false && findProgram('git', '/usr/local/bin:/usr/bin') === undefined ? 'no git' : skip },
  async (t) => {
    const subjects = ['feat: tides on Slack', 'fix: a comma'];
    const bot = await startWholeBot(t, {
      sandbox: 'auto',
      toml: config,
      channels: ['telegram', 'slack'],
      script: model('release-notes', [
        { name: 'read_file', input: { path: '/skill/references/style.md' } },
        { name: 'bash', input: { command: 'git -C /chat/site log --no-merges --format=%s v1..HEAD' } },
        { name: 'bash', input: { command: 'cat /chat/site/README.md' } },
        { name: 'bash', input: { command: 'git log; cat /skill/SKILL.md' } },
        { name: 'write_file', input: { path: 'notes.md', content: 'x' } },
        {
          name: 'bash',
          input: { command: `uv run scripts/tally.py ${subjects.map((s) => `"${s}"`).join(' ')}` },
        },
        { name: 'skills_read_file', input: { path: 'references/leave-out.md' } },
      ]),
    });
    const ann = bot.telegram.person({ name: 'Ann' });
    const { slack } = bot;
    const anna = slack.workspace.addUser('anna');
    const rooms = [
      { channel: 'telegram', chat: String(ann.id) },
      { channel: 'slack', chat: slack.workspace.dmWith(anna.id).id },
    ];
    for (const room of rooms) makeHistory(chatFolder(path.join(bot.home, 'workspace'), room), subjects);

    const judge = (): void => {
      const [style, log, cat, both, write, tally, leave] = runResults(bot);
      assert.match(style ?? '', /## What is new/);
      assert.match(log ?? '', /fix: a comma\\nfeat: tides on Slack/);
      for (const refused of [cat, both, write]) assert.match(refused ?? '', /TOOL_NOT_ALLOWED/);
      // Its header lists no packages, so it takes no uv.
      assert.match(tally ?? '', /feat: 1\\nfix: 1/);
      assert.match(leave ?? '', /begins with `chore`/);
      const run = bot.messages.requests.map(({ body }) => body).findLast(isRun);
      assert.match(JSON.stringify(run?.messages[0]), /of the repository \/chat\/site since the tag v1\. /);
    };
    ann.says('/release-notes /chat/site v1');
    await ann.dm.nextMessage(/Here it is/);
    judge();
    await slack.people.slash(anna, slack.workspace.dmWith(anna.id), 'release-notes /chat/site v1');
    await slack.posted(({ text }) => text.includes('Here it is'));
    judge();
  },
);

test('R5 R6 P3 where no program of the system runs, what a public skill cannot do is said plainly, with the way to it', async (t) => {
  const bot = await startWholeBot(t, {
    sandbox: 'auto',
    toml: `${config}[sandbox]\nmode = "virtual"\n`,
    channels: ['telegram', 'slack'],
    script: model('workbook', [
      { name: 'bash', input: { command: 'python scripts/build.py rows.json trip.xlsx' } },
    ]),
  });
  const said =
    /SKILL_UNAVAILABLE: scripts\/build\.py: python3 is not there in the virtual sandbox.*apt-get install bubblewrap python3/;
  const ann = bot.telegram.person({ name: 'Ann' });
  ann.says('/workbook my trip');
  assert.match((await ann.dm.nextMessage(/Here it is/)).text, said);
  const offered = JSON.stringify(bot.messages.requests.map(({ body }) => body).find((body) => !isRun(body)));
  assert.match(offered, /workbook: Build and check/);
  assert.doesNotMatch(offered, /tide-times/, 'it needs curl, which is not there either');
  ann.says('/tide-times brest');
  assert.match(
    (await ann.dm.nextMessage(/tide-times/)).text,
    /tide-times needs the program curl, .* apt-get install bubblewrap curl/,
  );
  const { slack } = bot;
  const anna = slack.workspace.addUser('anna');
  await slack.people.slash(anna, slack.workspace.dmWith(anna.id), 'workbook my trip');
  assert.match((await slack.posted(({ text }) => text.includes('Here it is'))).text, said);
});

test('D3 U3 a key that the operator wrote under a skill’s name reaches the commands of the workspace copy, and what its text alone names; without it, or where it is for scripts only, none does', async (t) => {
  const key = 'pplx-key-0123456789';
  const bot = await startWholeBot(t, {
    toml: '[access]\ndm = "open"\n',
    skills: {
      research:
        '---\nname: research\ndescription: Asks.\nenv: [PERPLEXITY_API_KEY]\n---\nAsk with $PERPLEXITY_API_KEY.\n',
    },
    script: model('research', [
      { name: 'bash', input: { command: 'echo key ${#PERPLEXITY_API_KEY} $PERPLEXITY_URL | cat' } },
    ]),
  });
  const ann = bot.telegram.person({ name: 'Ann' });
  ann.says('/research tides');
  const refused = await ann.dm.nextMessage(/config/);
  assert.match(refused.text, /\[skills\.research\]\nPERPLEXITY_API_KEY = "…"/);
  assert.ok(!bot.messages.requests.some(({ body }) => isRun(body)));

  const given = `[skills.research]\nPERPLEXITY_API_KEY = "${key}"\nPERPLEXITY_URL = "https://p.example/v1"\n`;
  await bot.reconfigure(`[access]\ndm = "open"\n${given}`);
  const again = await bot.restart();
  ann.says('/research tides');
  await ann.dm.nextMessage(/Here it is/);
  assert.match(runResults(again)[0] ?? '', /key 19 \[redacted PERPLEXITY_URL\]/);

  await again.reconfigure(`[access]\ndm = "open"\n${given}env_in_bash = false\n`);
  const kept = await again.restart();
  ann.says('/research tides');
  await ann.dm.nextMessage(/Here it is/);
  assert.match(runResults(kept)[0] ?? '', /key 0\\n/);
});

/** A repository below a conversation's folder, as a person or an earlier run left it there. */
function makeHistory(chat: string, subjects: readonly string[]): void {
  const site = path.join(chat, 'site');
  mkdirSync(site, { recursive: true });
  const git = (...args: readonly string[]): void => {
    const who = ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.com'];
    execFileSync('git', ['-C', site, ...who, ...args], { stdio: 'ignore' });
  };
  const commit = (subject: string): void => git('commit', '--allow-empty', '-qm', subject);
  git('init', '-q');
  commit('feat: the first');
  git('tag', 'v1');
  subjects.forEach(commit);
}
