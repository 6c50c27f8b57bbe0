import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import type { FeatureKit } from '../../src/features/kit.ts';
import { copyPatched } from '../support/rolling/copy-version.ts';
import { openCliHome } from '../support/run-cli.ts';
import { startBotProcess } from '../support/bot-process.ts';
import { startMessagesServer, type Script } from '../servers/messages/messages-server.ts';
import { startTelegramServer } from '../servers/telegram/start-telegram-server.ts';

const features = path.join(import.meta.dirname, '../../src/features');
/** Plugins are opened before the bot, because they bring folders of skills, so the command line needs their folder. */
const kept = ['plugins'];
const names = readdirSync(features, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !kept.includes(entry.name))
  .map(({ name }) => name);

/** A feature as its folder exports it. */
async function kitOf(name: string): Promise<FeatureKit> {
  const exported = (await import(path.join(features, name, 'feature.ts'))) as Record<string, FeatureKit>;
  const kit = Object.values(exported).find((one) => typeof one === 'object');
  assert.ok(kit !== undefined, name);
  return kit;
}

/** The program without these features: their folders and their lines of the list are gone. */
function without(t: TestContext, gone: readonly string[]): string {
  const cli = copyPatched(t, []);
  const source = path.join(path.dirname(cli), '../src/features');
  const list = path.join(source, 'list.ts');
  for (const name of gone) {
    rmSync(path.join(source, name), { recursive: true });
    const text = readFileSync(list, 'utf8');
    const [line = '', exported = ''] =
      new RegExp(`^import \\{ (\\w+) \\} from '\\./${name}/feature\\.ts';\\n`, 'm').exec(text) ?? [];
    assert.ok(line !== '', `${name} has no line in the list of features`);
    writeFileSync(list, text.replace(line, '').replace(new RegExp(`^  ${exported},\\n`, 'm'), ''));
  }
  return cli;
}

/** A model that runs a skill when it is asked to roll or to mail, and otherwise greets. */
const model: Script = (body) => {
  const last = JSON.stringify(body.messages.at(-1));
  if (JSON.stringify(body.system).includes('You carry out the skill')) return 'Four, by the skill.';
  if (last.includes('Four, by the skill')) return 'It was a four.';
  if (last.includes('CAPABILITY_UNAVAILABLE')) return 'The skill was refused.';
  if (!/Please (?:roll|mail)/.test(last)) return 'Hello Ann.';
  const input = { skill: last.includes('Please roll') ? 'dice' : 'mail', message: 'Do it.' };
  return { content: [{ type: 'tool_use', id: 'toolu_roll', name: 'use_skill', input }] };
};

for (const gone of [...names.map((name) => [name]), names])
  test(`the bot starts, answers, runs a skill and stops without ${gone.length === 1 ? gone[0] : 'any feature'}`, async (t) => {
    const home = await openCliHome(t);
    const telegram = await startTelegramServer();
    const messages = await startMessagesServer({ script: model });
    t.after(async () => {
      await telegram.close();
      await messages.close();
    });
    await home.write(
      'config.toml',
      `[access]
dm = "open"
[telegram]
token = "${telegram.token}"
api_root = "${telegram.url}"
paced = false
[models.default]
model = "claude-sonnet-5-5"
base_url = "${messages.url}"
api_key = "test-key-0123456789"
[sandbox]
mode = "virtual"
[log]
format = "json"
`,
    );
    mkdirSync(path.join(home.folder, 'workspace/skills/mail'), { recursive: true });
    await home.write(
      'workspace/skills/mail/SKILL.md',
      '---\nname: mail\ndescription: Sends mail.\ncapabilities: mail.send\n---\nSend it.\n',
    );
    const bot = startBotProcess(t, home.folder, without(t, gone));
    await telegram.until('the menus', () => telegram.calls('setMyCommands').length > 1);
    const ann = telegram.person({ name: 'Ann' });
    ann.says('hello');
    await ann.dm.nextMessage('Hello Ann.');
    ann.says('Please roll a die.');
    await ann.dm.nextMessage('It was a four.');
    // Without a provider, or without the feature, nothing serves what the skill declares.
    ann.says('Please mail it.');
    await ann.dm.nextMessage('The skill was refused.');
    const kits = await Promise.all(gone.map(kitOf));
    const commands = kits.flatMap((kit) => Object.keys(kit.commands ?? {}));
    const named = new RegExp(String.raw`(?:/|"command":")(?:${['no-command', ...commands].join('|')})\b`);
    ann.says('/help');
    const { text: help } = await ann.dm.nextMessage(/lists what I can do here/);
    assert.doesNotMatch(help, named);
    assert.doesNotMatch(JSON.stringify(telegram.calls('setMyCommands')), named);
    if (!gone.includes('tool-list')) {
      ann.says('/tools');
      const { text } = await ann.dm.nextMessage(/What I can use here/);
      const listed = kits
        .flatMap((kit) => Object.keys(kit.tools ?? {}))
        .filter((name) => text.includes(name));
      assert.deepEqual(listed, []);
    }
    ann.says('/skills');
    await ann.dm.nextMessage(/dice/);
    const asked = gone.includes('memory');
    ann.says('/memory');
    // A command that nothing answers is an ordinary message.
    await ann.dm.nextMessage(asked ? 'Hello Ann.' : /no notes here/);
    assert.deepEqual(await bot.stop(), [0, null]);
    const faults = bot.lines.filter(({ level }) => level >= 50);
    assert.deepEqual(faults, []);
  });
