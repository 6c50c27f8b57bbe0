import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { risks } from '../../src/core/tool.ts';
import {
  decidePolicy,
  deniesEveryCall,
  type Policy,
  type PolicyAction,
  type PolicyRule,
} from '../../src/tools/policy.ts';
import { defineTool, readOnly, type Tool } from '../../src/core/tool.ts';
import { toolContext } from '../support/tool-context.ts';

const { requester } = toolContext();
const actions: readonly PolicyAction[] = ['allow', 'confirm', 'deny'];
const strictness = (action: PolicyAction): number => actions.indexOf(action);
const policyOf = (level: PolicyAction, rules: readonly PolicyRule[]): Policy => ({
  safe: level,
  moderate: level,
  dangerous: level,
  critical: level,
  rules,
});

test('S7 T8 a marked call is never freer than confirm, whatever level and rules say, and a deny stays one', () => {
  for (const level of actions)
    for (const one of [undefined, ...actions])
      for (const other of [undefined, ...actions])
        for (const risk of risks) {
          const rules = [one, other].flatMap((action) =>
            action === undefined ? [] : [{ tool: 'web_*', action }],
          );
          const of = { tool: 'web_fetch', risk, requester };
          const plain = decidePolicy(policyOf(level, rules), { ...of, marked: false });
          const marked = decidePolicy(policyOf(level, rules), { ...of, marked: true });
          assert.equal(marked.action, plain.action === 'allow' ? 'confirm' : plain.action);
          assert.ok(strictness(marked.action) >= strictness('confirm'));
          assert.equal(marked.eachTime, true);
        }
});

test('T8 while the main agent follows a skill, a rule for that skill makes its calls stricter and never freer', () => {
  for (const level of actions)
    for (const one of actions)
      for (const other of [undefined, ...actions]) {
        const more = other === undefined ? [] : [{ tool: 'b*', action: other }];
        const policy = policyOf(level, [{ skill: 'dice', tool: 'bash', action: one }, ...more]);
        const of = { tool: 'bash', risk: 'moderate', requester, marked: false } as const;
        const alone = decidePolicy(policy, of).action;
        const following = decidePolicy(policy, { ...of, activeSkills: ['notes', 'dice'] }).action;
        assert.equal(following, strictness(one) > strictness(alone) ? one : alone);
        assert.equal(decidePolicy(policy, { ...of, activeSkills: ['notes'] }).action, alone);
        const elsewhere = { ...of, tool: 'read_file', activeSkills: ['dice'] };
        assert.equal(decidePolicy(policy, elsewhere).action, level, 'the rule names another tool');
      }
  const eyes = policyOf('allow', [{ skill: 'dice', action: 'confirm', fourEyes: true }]);
  const of = { tool: 'bash', risk: 'safe', requester, marked: false } as const;
  assert.deepEqual(decidePolicy(eyes, { ...of, activeSkills: ['dice'] }), {
    action: 'confirm',
    eachTime: true,
    fourEyes: true,
  });
});

test('T8 the strictest rule that fits replaces the level, and Always counts only where the level asked', () => {
  for (const level of actions)
    for (const one of actions)
      for (const other of actions) {
        const policy = policyOf(level, [
          { tool: 'b*', action: one },
          { sender: 'telegram:42', action: other },
          { skill: 'dice', action: 'deny' },
        ]);
        const of = { risk: 'moderate', requester, marked: false } as const;
        const both = decidePolicy(policy, { ...of, tool: 'bash' });
        assert.equal(both.action, strictness(one) > strictness(other) ? one : other);
        assert.equal(both.eachTime, true);
        assert.equal(decidePolicy(policy, { ...of, tool: 'bash', skill: 'dice' }).action, 'deny');
        const level_ = decidePolicy(policyOf(level, [{ tool: 'x', action: one }]), { ...of, tool: 'bash' });
        assert.deepEqual(level_, { action: level, eachTime: false, fourEyes: false });
      }
  assert.equal(
    decidePolicy(policyOf('confirm', []), { tool: 'x', risk: 'critical', requester, marked: false }).eachTime,
    true,
  );
});

test('T8 four_eyes of any rule that fits counts, whatever other rules say', () => {
  const of = { tool: 'deploy', risk: 'moderate', requester, marked: false } as const;
  const two = { tool: 'deploy', action: 'confirm', fourEyes: true } as const;
  for (const action of actions)
    for (const rules of [
      [two, { tool: '*', action }],
      [{ tool: '*', action }, two],
    ])
      assert.equal(decidePolicy(policyOf(action, rules), of).fourEyes, true);
  assert.equal(decidePolicy(policyOf('confirm', [{ ...two, tool: 'other' }]), of).fourEyes, false);
});

test('T8 a rule for a chat or a sender fits no other', () => {
  const of = { tool: 'bash', risk: 'moderate', requester, marked: false } as const;
  for (const rule of [{ chat: 'telegram:-999' }, { sender: 'telegram:999' }])
    assert.equal(decidePolicy(policyOf('confirm', [{ ...rule, action: 'allow' }]), of).action, 'confirm');
});

test('T8 a tool is out of sight only if no input of it could be allowed or asked for', () => {
  const tool = defineTool({
    ...{ name: 'notes_wipe', description: 'x', input: z.object({}), traits: readOnly, risk: 'critical' },
    run: async () => assert.fail('it is not called'),
  });
  const byInput: Tool = { ...tool, assess: async () => ({ risk: 'safe' }) };
  const seen = (policy: Policy, of: Tool, skill?: string): boolean =>
    !deniesEveryCall(policy, { requester, ...(skill === undefined ? {} : { skill }) })(of);
  const critical: Policy = { ...policyOf('allow', []), critical: 'deny' };
  assert.equal(seen(critical, tool), false);
  assert.equal(seen(critical, byInput), true, 'its risk depends on the input');
  assert.equal(seen(policyOf('deny', []), byInput), false);
  assert.equal(seen({ ...critical, rules: [{ tool: 'notes_*', action: 'confirm' }] }, tool), true);
  const rule = { tool: 'notes_*', action: 'deny' } as const;
  for (const one of [tool, byInput]) {
    assert.equal(seen(policyOf('allow', [rule]), one), false);
    assert.equal(seen(policyOf('allow', [{ ...rule, skill: 'notes' }]), one), true);
    assert.equal(seen(policyOf('allow', [{ ...rule, skill: 'notes' }]), one, 'notes'), false);
    assert.equal(seen(policyOf('allow', [{ ...rule, sender: 'telegram:4711' }]), one), true);
    assert.equal(seen(policyOf('allow', [{ ...rule, sender: requester.sender }]), one), false);
  }
});
