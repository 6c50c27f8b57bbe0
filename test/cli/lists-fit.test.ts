import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { createStandingRules } from '../../src/features/approvals/standing-rules.ts';
import { createAudit } from '../../src/audit/create-audit.ts';
import { commands } from '../../src/cli/commands.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { openStore } from '../../src/store/open-store.ts';
import { makeMessage } from '../support/make-message.ts';
import { quietLog } from '../support/quiet-log.ts';
import { makeRoutine } from '../support/routines-contract.ts';
import { openCliHome, type CliHome } from '../support/run-cli.ts';
import { noTerminal, openTerminal } from '../support/shell-at-terminal.ts';

const long = 'some words that are long enough for a line which no terminal of eighty columns can show whole';
const ann = 'telegram:42';

/** A home with something in every list that is too long for a line. */
async function fillLists(home: CliHome): Promise<void> {
  const toml = `[bot]\nowner = ["telegram:1"]\n[access.chats."telegram:-100"]\n[mcp.notes]\ncommand = "none"\n`;
  await home.write('config.toml', toml);
  const store = await openStore(`sqlite:${path.join(home.folder, 'data/skillet.db')}`);
  const { keyed } = store;
  const audit = createAudit({
    dataDir: path.join(home.folder, 'data'),
    ...{ keyed, clock: systemClock, log: quietLog() },
  });
  const now = Date.now();
  await keyed('people').set(`paired:${ann}`, { sender: ann, name: long, since: now });
  await store.inbox.accept(makeMessage({ id: 'dead' }), { now });
  await store.inbox.fail('dead', long, undefined);
  await store.commit({
    outbox: [{ key: 'k#0', conversation: { channel: 'telegram', chat: '42' }, part: { markdown: 'x' } }],
    usage: [
      {
        ...{
          day: '2025-10-01',
          sender: ann,
          conversation: ann,
          skill: long.replaceAll(' ', '-').slice(0, 60),
        },
        ...{ model: 'm', tokens: { input: 5e9, output: 1, cacheRead: 1, cacheWrite: 1 } },
      },
    ],
  });
  await store.outbox.dead('k#0', long);
  const rules = createStandingRules({ stored: keyed('standing-rules'), audit });
  const from = { words: 'forwarded', by: 'Mallory of the other department' } as const;
  await rules.add({ tool: 'write_file', skill: 'report', chat: ann, sender: ann, from }, 'telegram:1', now);
  const note = {
    author: ann,
    authorName: 'Ann',
    chat: ann,
    isPrivate: false,
    isApproved: true,
    at: now,
  } as const;
  for (const scope of ['person', 'team'] as const)
    await store.memories.add({ ...note, id: scope, text: long, scope }, 9);
  const definition = {
    name: long,
    conversation: { channel: 'telegram', chat: '-100' },
    chatType: 'group',
  } as const;
  await store.routines.add(makeRoutine('r1', { dueAt: Date.UTC(2099, 0, 1), definition }), 9);
  await audit.record({ event: 'config_changed', keys: long.split(' ') });
  await audit.settled();
  await store.close();
}

/** Those that take more words than their name. */
const more: Readonly<Record<string, readonly string[]>> = {
  'audit tail': [],
  'memory list': [ann],
  'memory team': [],
  stats: ['--month', '2025-10'],
  status: [],
  'skill sources': [],
  'access explain': [ann],
};

test(
  'L1 every list fits a terminal of 80 columns and breaks between words; elsewhere each line stays whole',
  { skip: noTerminal },
  async (t) => {
    const home = await openCliHome(t);
    await fillLists(home);
    const lists = commands.map(({ name }) => name).filter((name) => name.endsWith(' list'));
    assert.ok(lists.length >= 8);
    for (const name of new Set([...lists, 'routines', 'tasks', ...Object.keys(more)])) {
      const args = [...name.split(' '), ...(more[name] ?? [])];
      const whole = (await home.run(args)).stdout;
      const terminal = await openTerminal(t, home, args, {}, 80);
      await terminal.ended;
      const shown = terminal.seen().replaceAll('\r', '');
      for (const line of shown.split('\n'))
        assert.ok(line.length <= 80 || !line.trim().includes(' '), `${name}: ${line}`);
      const words = (text: string): readonly string[] => text.split(/\s+/);
      assert.deepEqual(words(shown), words(whole), `${name}: no word is cut or lost`);
      if (needsFolding.has(name))
        assert.ok(
          whole.split('\n').some((line) => line.length > 80),
          name,
        );
    }
  },
);

/** What is in them is too long for a line. */
const needsFolding: ReadonlySet<string> = new Set([
  ...['skill list', 'pair list', 'inbox list', 'outbox list', 'policy list', 'memory list', 'memory team'],
  ...['routines', 'stats', 'audit tail'],
]);
