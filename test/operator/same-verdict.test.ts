import assert from 'node:assert/strict';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { ruleName } from '../../src/access/ruling.ts';
import { whyNot } from '../../src/dashboard/access.ts';
import { readConfigFile } from '../../src/config/load-config.ts';
import { openGates } from '../../src/operator/access/open-gates.ts';
import { toWriter } from '../../src/operator/access/question.ts';
import type { TerminalView } from '../../src/operator/terminals/terminals.ts';
import { loadSkills } from '../../src/skills/load-skills.ts';
import { quietLog } from '../support/quiet-log.ts';
import { openCliHome } from '../support/run-cli.ts';
import { enter, openDashboard } from '../support/visit-dashboard.ts';
import { startWholeBot } from '../support/whole-bot.ts';

const users = ['owner', 'bob', 'eve'];
const places = ['private', 'group', 'channel'] as const;

const configs: readonly string[] = [
  '',
  '[access]\nusers = ["terminal:bob"]\n',
  '[access]\ngroup_users = ["terminal:eve"]\n',
  '[access]\ndm = "open"\ngroups_mode = "allowlist"\n',
  '[access]\ndm = "allowlist"\ngroup_users = ["*"]\n',
  '[access.chats."terminal:group"]\nusers = ["terminal:eve"]\n',
  '[access.chats."terminal:channel"]\ngroups_mode = "allowlist"\n',
  '[groups.team]\nmembers = ["terminal:eve"]\n[access]\nusers = ["group:team"]\n',
];

/** Whether the bot hears what this person types, and else why. */
async function heard(t: TestContext, toml: string) {
  const set = await startWholeBot(t, { toml, channels: [] });
  const ask = async (user: string, as: (typeof places)[number]): Promise<string | undefined> => {
    const shown: string[] = [];
    const view: TerminalView = {
      send: async (_, { markdown }) => ({ id: String(shown.push(markdown)) }),
      edit: async () => undefined,
      remove: async () => undefined,
      status: async () => undefined,
    };
    const seat = set.bot.sit({ user, as, patient: false }, view);
    const id = `terminal:${user}-${as}`;
    const command = { name: 'whoami', args: '' };
    await seat.tell({ message: { id, text: '/whoami', command, sentAt: Date.now() } });
    await seat.idle();
    seat.leave();
    return /^\(Not heard: ([^]*)\.\)$/.exec(shown.find((text) => text.startsWith('(Not heard')) ?? '')?.[1];
  };
  return { ...set, ask };
}

const wordsOf = (markup: string): string =>
  markup
    .replace(/<[^>]*>/g, ' ')
    .replace(/&#(\d+);/g, (_, number: string) => String.fromCharCode(Number(number)))
    .replace(/&quot;/g, '"')
    .replace(/\s+/g, ' ');

for (const toml of configs)
  test(`L13 S8 H5 access explain, the playground and a chat say the same of everybody everywhere: ${JSON.stringify(toml)}`, async (t) => {
    const { ask, ...set } = await heard(t, toml);
    const visitor = await enter((await openDashboard(t, set)).newLink());
    const parsed = await readConfigFile({ file: path.join(set.home, 'config.toml'), env: {} });
    assert.ok(parsed.ok);
    const gates = await openGates(parsed.config, { registry: await loadSkills([]), log: quietLog() });
    t.after(gates.close);
    for (const user of users)
      for (const as of places) {
        const who = `terminal:${user}`;
        const where = as === 'private' ? undefined : `terminal:${as}`;
        const writer = toWriter({ who, where });
        const { message: running } = await set.bot.operate('access decisions', writer);
        const { message: stopped } = await gates.decide(writer);
        assert.deepEqual(stopped, running, `${who} ${as}: with a bot and without`);
        const why = await ask(user, as);
        assert.equal(why, running.allowed ? undefined : running.reason, `${who} ${as}: in the chat`);
        const query = new URLSearchParams({ person: who, chat: where ?? '', addressed: 'yes' });
        const page = wordsOf((await visitor.get(`/playground?${query.toString()}`)).body);
        const verdict = running.allowed
          ? `The bot answers this message, because ${running.reason}.`
          : `The bot does not answer this message. ${whyNot(running)}`;
        assert.ok(page.includes(verdict), `${who} ${as}: ${verdict}\n${page}`);
        assert.ok(running.rule !== undefined && page.includes(`Rule: ${ruleName(running.rule)}`), page);
        assert.equal(page.includes('None, because nothing is answered.'), !running.allowed);
      }
  });

test('L13 H5 before any bot ran, access explain knows who sits at the terminal, and whom a room lacks', async (t) => {
  const home = await openCliHome(t);
  const owner = await home.run(['access', 'explain', 'terminal:owner']);
  assert.match(owner.stdout, /^terminal:owner may talk to the bot in a direct message\.\n.*is an owner/);
  assert.equal(owner.code, 0);
  const bob = await home.run(['access', 'explain', 'terminal:bob', '--chat', 'terminal:group']);
  assert.match(bob.stdout, /NOT_ALLOWED: terminal:bob may not talk .* until \[access\] users lists/);
  assert.match(bob.stdout, /Rule: access\.users/);
});
