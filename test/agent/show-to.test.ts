import assert from 'node:assert/strict';
import { test } from 'node:test';
import { showTo, type Viewer } from '../../src/agent/show-to.ts';
import type { Entry } from '../../src/core/entry.ts';
import { noTokens } from '../../src/core/model.ts';

type UserEntry = Extract<Entry, { kind: 'user' }>;

const [ada, bob] = ['telegram:42', 'telegram:421'];
const said = (content: string, more: Partial<UserEntry> = {}): Entry => ({
  kind: 'user',
  sender: ada,
  content,
  at: 1,
  ...more,
});
const answer = (text: string): Entry => ({
  kind: 'assistant',
  content: [{ type: 'text', text, citations: null }],
  stopReason: 'end_turn',
  tokens: noTokens,
  model: 'm',
  at: 1,
});
const call = (name: string, input: object): readonly Entry[] => [
  {
    kind: 'assistant',
    content: [{ type: 'tool_use', id: 'c1', name, input, caller: { type: 'direct' } }],
    stopReason: 'tool_use',
    tokens: noTokens,
    model: 'm',
    at: 1,
  },
  { kind: 'tool_result', toolUseId: 'c1', content: `RESULT of ${name}`, isError: false, at: 1 },
];

const tools = ['skills_list', 'skills_search', 'use_skill', 'skills_load'];
/** Knows the skill dice and these tools. */
const viewer: Viewer = {
  sender: bob,
  skill: (name) => name === 'dice',
  tool: (name) => tools.includes(name),
};
const now = said('and now?', { sender: bob });

/** What is left of Ada’s turn for somebody else. */
function left(turn: readonly Entry[], by: Viewer = viewer): string {
  return JSON.stringify(showTo([...turn, now], by).slice(0, -1));
}

test('M13 A11 of somebody else’s turn with a hidden skill or tool, or with lists of skills, only words and answer are shown', () => {
  for (const [name, input] of [
    ['skills_list', {}],
    ['skills_list', { skill: 'dice' }],
    ['skills_search', { query: 'pay' }],
    ['web_fetch', { url: 'https://example.org' }],
    ['use_skill', { skill: 'payroll', message: 'x' }],
    ['skills_load', { skill: 'payroll' }],
    ['use_skill', {}],
  ] as const) {
    const shown = left([said('what is there?'), ...call(name, input), answer('There is dice.')]);
    assert.match(shown, /what is there\?.*There is dice\./, name);
    assert.doesNotMatch(shown, /RESULT|payroll|tool_use"/, name);
  }
});

test('M13 A11 of somebody else’s turn with what one may use oneself all is shown, and of one’s own everything', () => {
  const open = [said('roll'), ...call('use_skill', { skill: 'dice', message: 'x' }), answer('Six.')];
  assert.match(left(open), /RESULT of use_skill/);
  const hidden = [said('pay'), ...call('use_skill', { skill: 'payroll' }), answer('Paid.')];
  assert.match(left(hidden, { ...viewer, sender: ada }), /RESULT/);
  const everybody: Viewer = { skill: viewer.skill, tool: viewer.tool };
  assert.doesNotMatch(left(hidden, everybody), /RESULT/);
  assert.doesNotMatch(left(hidden.slice(1), everybody), /RESULT/, 'nobody knows who asked');
  const underWay = JSON.stringify(showTo(hidden, viewer));
  assert.match(underWay, /RESULT/, 'a turn under way is whole');
});

test('M13 A11 who started a hidden skill by name has not said so to others', () => {
  const about = [said('/payroll all', { about: 'payroll' }), answer('Paid.')];
  const follows = [said('pay all', { activeSkill: { skill: 'payroll', allowedTools: [] } }), answer('Paid.')];
  const byName = [
    said('/payroll all'),
    said('PAY', { item: 'x#skill', about: 'payroll', sender: undefined }),
    answer('Paid.'),
  ];
  for (const turn of [about, follows, byName]) {
    const shown = left(turn);
    assert.doesNotMatch(shown, /all/);
    assert.match(shown, /Paid\./, 'the answer stood in the chat');
  }
  assert.match(left([said('/dice six', { about: 'dice' }), answer('Six.')]), /six/);
});

test('U14 M13 questions of hidden runs are not shown to others', () => {
  const asked = [
    { skill: 'payroll', text: 'Whom?' },
    { skill: 'dice', text: 'How many?' },
  ];
  const shown = left([said('Ben', { asked }), answer('Thanks.')]);
  assert.match(shown, /How many/);
  assert.doesNotMatch(shown, /Whom/);
});
