import assert from 'node:assert/strict';
import { test } from 'node:test';
import { promptSize } from '../../src/agent/compact-entries.ts';
import { showTo, activeInTurn, collapseActiveSkills } from '../../src/agent/show-to.ts';
import { toMessages } from '../../src/agent/to-messages.ts';
import type { Entry } from '../../src/core/entry.ts';
import { noTokens } from '../../src/core/model.ts';

const body = 'words of the body '.repeat(2_000);
const said = (content: string): Entry => ({ kind: 'user', sender: 'telegram:42', content, at: 1 });
const loaded: Entry = {
  kind: 'tool_result',
  toolUseId: 'c1',
  content: body,
  isError: false,
  activeSkill: { skill: 'a', allowedTools: ['bash'] },
  at: 1,
};
const asked: Entry = {
  kind: 'assistant',
  content: [
    { type: 'tool_use', id: 'c1', name: 'skills_load', input: { skill: 'a' }, caller: { type: 'direct' } },
  ],
  stopReason: 'tool_use',
  tokens: noTokens,
  model: 'm',
  at: 1,
};
const answered = (input: number): Entry => ({
  kind: 'assistant',
  content: [{ type: 'text', text: 'Done.', citations: null }],
  stopReason: 'end_turn',
  tokens: { ...noTokens, input },
  model: 'm',
  at: 1,
});

test('T6 a turn goes from what a person said to what the next one says: nothing the host adds ends it', () => {
  const added: Entry = { kind: 'user', item: 'x#skill', content: 'from the host', at: 1 };
  const turn = [said('one'), asked, loaded, added];
  assert.deepEqual(activeInTurn(turn), [{ skill: 'a', allowedTools: ['bash'] }]);
  assert.deepEqual(collapseActiveSkills(turn), turn);
  const later = [...turn, said('two')];
  assert.deepEqual(activeInTurn(later), []);
  const stub = collapseActiveSkills(later)[2];
  assert.equal(stub?.kind === 'tool_result' && stub.content, '[Skill a was followed here]');
  assert.equal(later[2], loaded, 'the entry itself stays');
  assert.deepEqual(activeInTurn([]), []);
});

test('H11 T6 words that join a turn do not end what binds it', () => {
  const joined: Entry = { ...said('and this'), item: '2', joins: '1' } as Entry;
  const turn = [said('one'), asked, loaded, joined];
  assert.deepEqual(activeInTurn(turn), [{ skill: 'a', allowedTools: ['bash'] }]);
  assert.deepEqual(collapseActiveSkills(turn), turn);
});

test('H11 A11 a turn with joined words stays hidden as a whole, but for what everybody saw', () => {
  const joined: Entry = { ...said('and this'), item: '2', joins: '1' } as Entry;
  const viewer = { sender: 'telegram:66', skill: () => false, tool: () => true };
  const shown = showTo([said('one'), asked, loaded, joined, answered(1)], viewer, 5);
  assert.deepEqual(
    shown.map((entry) => ('content' in entry ? entry.content : '')),
    ['one', 'and this', [{ type: 'text', text: 'Done.', citations: null }]],
  );
});

test('T6 M9 what is no longer sent is not counted towards a compaction', () => {
  const turn = [said('one'), asked, loaded, answered(10_000)];
  const size = (entries: readonly Entry[]): number =>
    promptSize({ system: [], messages: toMessages(entries), tools: [] }, entries);
  assert.ok(size(turn) >= 10_000);
  assert.ok(size([...turn, said('two')]) < 2_000, String(size([...turn, said('two')])));
});
