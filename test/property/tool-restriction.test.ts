import assert from 'node:assert/strict';
import { allTools } from '../../src/features/list.ts';
import { test } from 'node:test';
import fc from 'fast-check';
import { createToolRestriction, type ToolRestriction } from '../../src/tools/tool-restriction.ts';
import { makeSkill } from '../support/make-skill.ts';
import { quietLog } from '../support/quiet-log.ts';

const tools = ['bash', 'mcp_a', 'send_file', 'skills_list', 'skills_load', 'use_skill', 'web_fetch'];
const item = fc.constantFrom(
  'bash',
  'Bash(git:*)',
  'Bash(git log:*)',
  'use_skill',
  'use_*',
  '*',
  'send.file',
  'mcp_?',
  'WebFetch',
  'unknown',
  '',
);
const list = fc.option(fc.array(item, { maxLength: 4 }), { nil: undefined });
/** A load of a skill, or an edit of its list. */
const step = fc.record({
  skill: fc.constantFrom('a', 'b'),
  allowedTools: list,
  edits: fc.boolean(),
});
const commands = ['git status', 'git log -1', 'ls', 'git log; id'];

test('T6 whatever is loaded or edited in whatever order, a turn never gets back what a load took, and keeps its baseline', () => {
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 6 }),
      fc.constantFrom('error' as const, 'baseline' as const, 'ignore' as const),
      (steps, invalid) => {
        const definitions = new Map<string, readonly string[] | undefined>();
        const open = (allowedNow: (name: string) => readonly string[] | undefined): ToolRestriction =>
          createToolRestriction({
            builtInTools: allTools(),
            tools: () => tools,
            elsewhere: () => [],
            lent: { names: new Set(), by: () => [] },
            settings: () => ({ enforcement: 'on', invalid }),
            now: (name) => ({ allowedTools: allowedNow(name) }),
            log: quietLog(),
          });
        const turn = open((name) => definitions.get(name));
        // The same turn after a crash, its skills gone from the disk.
        const resumed = open(() => undefined);
        let left = allowedCalls(turn);
        for (const { skill, allowedTools, edits } of steps) {
          definitions.set(skill, allowedTools);
          if (!edits) {
            const before = allowedCalls(turn);
            const judged = turn.judge(makeSkill(skill, allowedTools === undefined ? {} : { allowedTools }));
            assert.deepEqual(allowedCalls(turn), before, 'judging binds nothing');
            if (judged.ok) {
              turn.activate(judged.activeSkill);
              resumed.activate(judged.activeSkill);
              const enforced = judged.warnings.some(({ code }) => code === 'ALLOWED_TOOLS_ENFORCED');
              if (enforced && !allowedTools?.includes('use_skill'))
                assert.ok(!turn.names.includes('use_skill'));
            }
          }
          const bound = allowedCalls(resumed);
          assert.ok(bound.isSubsetOf(left), 'a load never widens');
          assert.ok(allowedCalls(turn).isSubsetOf(bound), 'an edit never widens');
          left = bound;
          for (const name of ['skills_list', 'skills_load']) assert.ok(turn.names.includes(name));
          for (const name of tools.filter((name) => name !== 'bash'))
            assert.equal(turn.allows(name, {}), turn.names.includes(name), name);
        }
      },
    ),
    { numRuns: 100 },
  );
});

function allowedCalls(restriction: ToolRestriction): ReadonlySet<string> {
  const shown = restriction.names.filter((name) => name !== 'bash');
  const run = commands.filter((command) => restriction.allows('bash', { command }));
  return new Set([...shown, ...run]);
}
