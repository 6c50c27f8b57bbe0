import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ownCommandRows } from '../../src/conversations/own-commands.ts';
import { commandTable } from '../../src/core/chat-commands.ts';
import { describeTasks, helpText } from '../../src/conversations/overview.ts';
import { sayIn } from '../../src/core/texts/say.ts';
import type { ListedItem } from '../../src/store/inbox.ts';
import { makeMessage } from '../support/make-message.ts';

test('A11 the list of tasks names no skill of another person’s run that its reader may not know of', () => {
  const sender = { id: 'slack:U42', name: 'U42', kind: 'person' } as const;
  const task = { kind: 'run', id: 'abcdef123456', skill: 'slowfin', parent: 'p', call: 'c' };
  const message = { ...makeMessage({ sender }), task };
  const item = { key: 'k', queue: 'l', message, acceptedAt: 1, takenAt: 2 } as unknown as ListedItem;
  const shown = (id: string, ...known: readonly string[]): string =>
    describeTasks([item], { requests: [], reader: { ...sender, id }, zone: 'UTC', known: new Set(known) });
  assert.match(shown('slack:U7', 'other'), /`abcdef` a run, for `U42`, running/);
  assert.match(shown('slack:U7', 'slowfin'), /`abcdef` slowfin, for `U42`/);
  assert.match(shown('slack:U42'), /`abcdef` slowfin, for `U42`/);
});

test('H9 help in a terminal speaks of no direct messages or groups', () => {
  const commands = commandTable([
    ownCommandRows,
    { dice: { menu: 'Rolls', help: (write) => `${write('dice')} rolls` }, quiet: { menu: 'Nothing' } },
  ]);
  const help = (channel: string) => helpText((name) => `/${name}`, sayIn(undefined), { channel, commands });
  assert.match(help('slack'), /direct message, or mention me/);
  assert.doesNotMatch(help('terminal'), /direct message|mention|group/);
  assert.match(help('terminal'), /^- \/skills lists/);
  assert.match(help('slack'), /^- \/dice rolls$/m);
  assert.doesNotMatch(help('slack'), /quiet|undefined/);
});
