/**
 * Plays the runs shown in docs/public-skills.md: three skills as they are found in public, used from a terminal with the
 * real sandbox. What a language model would decide stands here as a script; everything else is the bot as it runs.
 * Usage: node examples/public-skills.ts
 */
import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { chatFolder } from '../src/tools/built-in/run-folders.ts';
import { isRun, resultsIn, type ScriptedCall } from '../test/support/call-steps.ts';
import { startMessagesServer } from '../test/servers/messages/messages-server.ts';
import type { MessagesRequest } from '../test/servers/messages/request-shape.ts';

type Scene = Readonly<{
  says: string;
  calls: readonly ScriptedCall[];
  result: string;
  answer: string;
  toml?: string;
}>;

const root = path.join(import.meta.dirname, '..');
const home = mkdtempSync(path.join(tmpdir(), 'skillet-public-'));
const workspace = path.join(home, 'workspace');
const rows = {
  title: 'Trip',
  columns: ['what', 'EUR'],
  rows: [
    ['Train', 89.5],
    ['Hotel', 240],
  ],
  total: ['EUR'],
};
const tides = { name: 'bash', input: { command: '/skill/scripts/tides.sh brest' } };
const subjects = ['feat: tides on Slack', 'fix: a comma', 'ci: newer runner'];

const scenes: readonly Scene[] = [
  {
    says: '/workbook my trip: train 89.50, hotel 240, with a total',
    calls: [
      { name: 'read_file', input: { path: 'references/formulas.md' } },
      { name: 'write_file', input: { path: 'rows.json', content: JSON.stringify(rows) } },
      { name: 'bash', input: { command: 'python scripts/build.py rows.json trip.xlsx' } },
      { name: 'bash', input: { command: 'python scripts/check.py trip.xlsx' } },
      { name: 'send_file', input: { path: 'trip.xlsx' } },
    ],
    result: 'Built trip.xlsx with a SUM over two rows, checked, delivered.',
    answer: 'Your workbook is done: two rows and a total as a formula.',
  },
  {
    says: '/workbook my trip',
    toml: '[sandbox]\nmode = "virtual"\n',
    calls: [{ name: 'bash', input: { command: 'python scripts/build.py rows.json trip.xlsx' } }],
    result: 'It could not be built: it takes python3, which is not in the virtual sandbox.',
    answer: 'I can’t build workbooks here: that takes bubblewrap and python3 on my machine.',
  },
  {
    says: '/tide-times brest',
    calls: [],
    result: '',
    answer: 'The skill is not set up yet: it lacks its key.',
  },
  {
    says: '/tide-times brest',
    toml: '[skills.tide-times]\nTIDEWATCH_URL = "https://api.tidewatch.example"\nTIDEWATCH_API_KEY = "a-key-of-16-chars"\n',
    calls: [tides],
    result: 'The times could not be fetched: the skill has no network.',
    answer: 'The skill may not reach its server yet: the operator has to name it.',
  },
  {
    says: '/tide-times brest',
    toml: '[skills.tide-times]\nnetwork = ["api.tidewatch.example"]\nTIDEWATCH_URL = "https://api.tidewatch.example"\nTIDEWATCH_API_KEY = "a-key-of-16-chars"\n',
    calls: [tides],
    result: 'Nobody could be asked, so nothing was fetched.',
    answer: 'Somebody has to agree before I fetch that, and nobody can be asked here.',
  },
  {
    says: '/release-notes /chat/site v1',
    calls: [
      { name: 'read_file', input: { path: 'references/style.md' } },
      { name: 'bash', input: { command: 'git -C /chat/site log --no-merges --format=%s v1..HEAD' } },
      { name: 'bash', input: { command: 'cat /etc/passwd' } },
      { name: 'bash', input: { command: 'uv run scripts/tally.py "feat: tides on Slack" "fix: a comma"' } },
    ],
    result: '## What is new\n\n- Tides on Slack\n- A comma is where it belongs',
    answer: '## What is new\n\n- Tides on Slack\n- A comma is where it belongs',
  },
];

makeHistory(path.join(chatFolder(workspace, { channel: 'terminal', chat: 'owner' }), 'site'));
for (const scene of scenes) await play(scene);
rmSync(home, { recursive: true });

async function play({ says, calls, result, answer, toml = '' }: Scene): Promise<void> {
  const runs: MessagesRequest[] = [];
  const server = await startMessagesServer({
    script: (request) => {
      if (!isRun(request)) return answer;
      runs.push(request);
      const done = resultsIn(request).length;
      const next = calls[done];
      if (next === undefined) return result;
      return { content: [{ type: 'tool_use', id: `toolu_${done}`, ...next }], stopReason: 'tool_use' };
    },
  });
  const file = path.join(home, 'config.toml');
  const skills = path.join(root, 'test/support/public-skills');
  const bot = `[bot]\ndata_dir = "${home}/data"\nworkspace = "${workspace}"\n[log]\nlevel = "error"\n`;
  const model = `[models.default]\nmodel = "stand-in"\nbase_url = "${server.url}"\napi_key = "test-key-0123456789"\n`;
  writeFileSync(file, `${bot}${model}[skills]\nbundled = false\nuser_dir = "${skills}"\n${toml}`, {
    mode: 0o600,
  });
  print(`${toml === '' ? '' : `${shown(toml.trim())}\n`}$ skillet chat --once "${says}"`);
  const command = ['bin/skillet.js', 'chat', '--config', file, '--once', says];
  const { stdout } = await promisify(execFile)(process.execPath, command, { cwd: root });
  const results = runs.length === 0 ? [] : resultsIn(runs.at(-1)!);
  for (const [index, { name, input }] of calls.entries()) {
    print(`    ${name} ${JSON.stringify(input)}`);
    print(indent(String(JSON.parse(results[index] ?? '""')), '        '));
  }
  if (calls.length === 0) print(indent(lastOf(server.requests.at(-1)?.body), '        '));
  print(`${stdout.trim().replaceAll(home, '…')}\n`);
  await server.close();
}

/** What the main agent was told of a skill that was not run. */
function lastOf(request: MessagesRequest | undefined): string {
  const written = JSON.stringify(request?.messages.at(-1)?.content);
  const [, told = ''] = /(error SKILL_[^"]*|error MISSING_ENV(?:[^"\\]|\\.)*)"/.exec(written) ?? [];
  return String(JSON.parse(`"${told}"`));
}

function shown(toml: string): string {
  return indent(toml.replaceAll('a-key-of-16-chars', '…'), '# ');
}

function indent(text: string, by: string): string {
  return text.trimEnd().replace(/^/gm, by).replaceAll(home, '…');
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** A repository in the conversation's folder, as an earlier run left it there. */
function makeHistory(site: string): void {
  mkdirSync(site, { recursive: true });
  const who = ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.com'];
  const git = (...args: readonly string[]): void => {
    execFileSync('git', ['-C', site, ...who, ...args], { stdio: 'ignore' });
  };
  git('init', '-q');
  git('commit', '--allow-empty', '-qm', 'feat: the first');
  git('tag', 'v1');
  for (const subject of subjects) git('commit', '--allow-empty', '-qm', subject);
}
