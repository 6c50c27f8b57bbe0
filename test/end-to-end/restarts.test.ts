import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, test } from 'node:test';
import { chatFolder } from '../../src/tools/built-in/run-folders.ts';
import { knowPeople } from '../support/known-people.ts';
import { startBotProcess } from '../support/bot-process.ts';
import { isRun, resultsIn } from '../support/call-steps.ts';
import { startMessagesServer } from '../servers/messages/messages-server.ts';
import type { MessagesRequest } from '../servers/messages/request-shape.ts';
import { noPostgres, startPostgres } from '../support/postgres.ts';
import { openCliHome } from '../support/run-cli.ts';
import { startTelegramServer } from '../servers/telegram/start-telegram-server.ts';
import { startWholeBot, type WholeBot } from '../support/whole-bot.ts';

const server = await startPostgres();
after(() => server?.close());

/** A stop that waits for what only waits takes longer than any test may. */
const toml = '[access]\ndm = "open"\n[bot]\nshutdown_seconds = 3600\n';
const confirm = '[policy]\nmoderate = "confirm"\n';
const skills = {
  mark: '---\nname: mark\ndescription: Makes a mark.\nallowed-tools: bash\n---\nMake one mark.\n',
};
const asked = /wants to use.*bash/s;
const command = 'echo mark >> /chat/marks && echo marks: $(cat /chat/marks)';

const call = (id: string, name: string, input: object) => ({
  content: [{ type: 'tool_use' as const, id, name, input }],
});
const lastOf = (body: MessagesRequest): string => JSON.stringify(body.messages.at(-1));

/** A model whose run makes a mark by a command, and which passes on what it was shown. */
function marker(body: MessagesRequest) {
  const last = lastOf(body);
  const told = /marks: ([a-z ]+)/.exec(last)?.[1] ?? /error [A-Z_]+: [^"\\]*/.exec(last)?.[0];
  if (isRun(body))
    return resultsIn(body).length === 0 ? call('toolu_mark', 'bash', { command }) : `marks: ${told ?? last}`;
  return resultsIn(body).length === 0
    ? call('toolu_use', 'use_skill', { skill: 'mark', message: 'Make it.' })
    : `It says ${told ?? last}`;
}

/** Where a bot works on its files (Q14). */
const roots = { embedded: 'workspace', postgres: 'data/copies' };

/** What the command left behind. */
async function marksIn(
  { home }: Pick<WholeBot, 'home'>,
  chat: number,
  root = roots.embedded,
): Promise<string> {
  const folder = chatFolder(path.join(home, root), { channel: 'telegram', chat: String(chat) });
  return readFile(path.join(folder, 'marks'), 'utf8').catch(() => '');
}

/** The result once. A run that waits 10 s for a person goes on in the background, which is said before (U9). */
function assertTold(sent: readonly Readonly<{ text: string }>[]): void {
  const told = sent.map(({ text }) => text.split(':')[0]);
  assert.equal(told[0], 'Approved by Ann');
  assert.equal(told.at(-1), 'It says mark');
  assert.ok(told.length <= 3, told.join(' | '));
  assert.equal(told.filter((text) => text === 'It says mark').length, 1);
}

for (const store of ['embedded', 'postgres'] as const) {
  const skip = store === 'postgres' && server === undefined ? noPostgres : false;
  const open = async (): Promise<string> =>
    store === 'embedded' ? toml : `${toml}[store]\nurl = "${(await server?.database()) ?? ''}"\n`;

  test(
    `Q13 T8 ${store}: a question is open over a restart and holds none up; Approve has the call made, once`,
    { skip },
    async (t) => {
      const set = await startWholeBot(t, { toml: (await open()) + confirm, skills, script: marker });
      const ann = set.telegram.person({ name: 'Ann' });
      ann.says('make a mark');
      const question = await ann.dm.nextMessage(asked);
      const again = await set.restart();
      assert.equal(await marksIn(set, ann.dm.id, roots[store]), '');
      ann.presses(question.id, 'Approve');
      await ann.dm.nextMessage('It says mark');
      await again.bot.idle();
      assert.equal(await marksIn(set, ann.dm.id, roots[store]), 'mark\n');
      assertTold(ann.dm.sent());
    },
  );

  test(
    `Q13 ${store}: a turn that waits for a run holds no shutdown up: both go on after it`,
    { skip },
    async (t) => {
      const asks = Promise.withResolvers<void>();
      const gate = Promise.withResolvers<void>();
      const set = await startWholeBot(t, {
        toml: await open(),
        skills,
        script(body) {
          const step = marker(body);
          if (isRun(body) || typeof step === 'string') return step;
          asks.resolve();
          return { ...step, wire: { hold: gate.promise } };
        },
      });
      const ann = set.telegram.person({ name: 'Ann' });
      ann.says('make a mark');
      await asks.promise;
      // The model asks for a run when no run begins any more.
      const restarted = set.restart();
      gate.resolve();
      const again = await restarted;
      await ann.dm.nextMessage('It says mark');
      await again.bot.idle();
      assert.equal(await marksIn(set, ann.dm.id, roots[store]), 'mark\n');
      assert.equal(ann.dm.sent().length, 1);
    },
  );
}

test('Q13 T8 a process that is told to end while a question is open ends at once; the next one asks nobody again and makes the call once', async (t) => {
  const { write, folder } = await openCliHome(t);
  const telegram = await startTelegramServer({ flood: false });
  const messages = await startMessagesServer({ script: marker });
  t.after(() => Promise.all([telegram.close(), messages.close()]));
  await write(
    'config.toml',
    `${toml}${confirm}[telegram]
token = "${telegram.token}"
api_root = "${telegram.url}"
paced = false
[server]
listen = "127.0.0.1:0"
[log]
format = "json"
[sandbox]
mode = "virtual"
[models.default]
model = "claude-sonnet-5-5"
base_url = "${messages.url}"
api_key = "test-key-0123456789"
`,
  );
  await mkdir(path.join(folder, 'workspace/skills/mark'), { recursive: true });
  await writeFile(path.join(folder, 'workspace/skills/mark/SKILL.md'), skills.mark);
  await knowPeople(`sqlite:${folder}/data/skillet.db`);
  const first = startBotProcess(t, folder);
  const ann = telegram.person({ name: 'Ann' });
  ann.says('make a mark');
  const question = await ann.dm.nextMessage(asked);
  assert.deepEqual(await first.stop(), [0, null]);
  const second = startBotProcess(t, folder);
  await second.line(({ msg }) => msg === 'Skillet is ready');
  assert.equal(await marksIn({ home: folder }, ann.dm.id), '');
  ann.presses(question.id, 'Approve');
  await ann.dm.nextMessage('It says mark');
  assert.deepEqual(await second.stop(), [0, null]);
  assert.equal(await marksIn({ home: folder }, ann.dm.id), 'mark\n');
  assertTold(ann.dm.sent());
});
