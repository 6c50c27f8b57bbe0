import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SkillUse } from '../../../src/access/decide-skill.ts';
import { createTellAsker } from '../../../src/features/authoring/tell-asker.ts';
import type { SkillSettings } from '../../../src/core/access-settings.ts';
import type { ChatType } from '../../../src/core/conversation.ts';
import type { Actor } from '../../../src/core/message.ts';
import type { Skill } from '../../../src/core/skill.ts';
import { createRegistry } from '../../../src/skills/registry.ts';
import { createWrittenSkills } from '../../../src/skills/written-skills.ts';
import { openStore } from '../../../src/store/open-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { partOf } from '../../support/app-of.ts';
import { makeSkill } from '../../support/make-skill.ts';

const askerIn = (chat: string, chatType: ChatType = 'private'): Actor => ({
  conversation: { channel: 'telegram', chat },
  chatType,
  external: false,
  sender: { id: 'telegram:42', name: 'Ann', kind: 'person' },
});

type Case = Readonly<{
  asker?: Actor;
  settings?: SkillSettings;
  skill?: Skill | undefined;
  admitted?: boolean;
  by?: string;
}>;

async function told({ asker = askerIn('42'), settings = {}, admitted = true, by, ...of }: Case) {
  const said: string[] = [];
  const skill = 'skill' in of ? of.skill : makeSkill('greet');
  const tell = createTellAsker({
    store: partOf<Store>({
      async commit({ outbox = [] }) {
        for (const { part, conversation } of outbox) said.push(`${conversation.chat}: ${part.markdown}`);
      },
    }),
    runtime: () => partOf({ rules: { enabled: true, defaults: {}, skills: new Map([['greet', settings]]) } }),
    registry: async () => createRegistry(skill === undefined ? [] : [skill]),
    users: partOf({
      mayAct: async () =>
        admitted ? { allowed: true } : { allowed: false, code: 'STRANGER', reason: 'gone' },
    }),
    accessOf: async ({ chatType, external, conversation, sender }): Promise<SkillUse> => ({
      ...{ chatType, external, sender: sender.id, by: 'person' },
      chatIds: [`telegram:${conversation.chat}`],
    }),
    writeCommand: (_, name) => `/${name}`,
  });
  await tell({ name: 'greet', at: 1, asker }, by);
  return said;
}

const sentence = '`greet` is enabled. To use it, write /greet.';

test('D9 who asked for a skill is told in their chat that it is enabled, once', async (t) => {
  assert.deepEqual(await told({}), [`42: ${sentence}`]);
  assert.deepEqual(await told({ by: 'telegram:1' }), [`42: ${sentence}`]);
  assert.deepEqual(await told({ by: 'telegram:42' }), [], 'they enabled it themselves');
  const group = askerIn('-5', 'group');
  assert.deepEqual(await told({ asker: group, by: 'telegram:42' }), [`-5: ${sentence}`]);
  const store = await openStore('sqlite::memory:');
  t.after(() => store.close());
  const { askers } = createWrittenSkills(store);
  await askers.set('greet', group);
  assert.deepEqual([await askers.take('greet'), await askers.take('greet')], [group, undefined]);
});

test('D9 A11 nothing is said where the asker, or somebody who reads it, may not use the skill', async () => {
  const group = askerIn('-5', 'group');
  const cases: readonly Case[] = [
    { settings: { allowUsers: ['7'] } },
    { settings: { enabled: false } },
    { settings: { chatTypes: ['group'] } },
    { asker: group, settings: { allowUsers: ['42'] } },
    { asker: group, skill: makeSkill('greet', { access: { sensitive: true, chatTypes: ['private'] } }) },
    { skill: makeSkill('greet', { access: { userInvocable: false } }) },
    { skill: undefined },
    { admitted: false },
  ];
  for (const one of cases) assert.deepEqual(await told(one), [], JSON.stringify(one));
});

test('D9 Q12 who is forgotten waits for no skill any more', async (t) => {
  const store = await openStore('sqlite::memory:');
  t.after(() => store.close());
  const { askers } = createWrittenSkills(store);
  await askers.set('greet', askerIn('42'));
  const other = { ...askerIn('7'), sender: { id: 'telegram:7', name: 'Ben', kind: 'person' } as const };
  await askers.set('other', other);
  await askers.forget('telegram:42');
  assert.equal(await askers.take('greet'), undefined);
  assert.deepEqual(await askers.take('other'), other);
});
