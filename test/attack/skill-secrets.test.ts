import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resultsIn } from '../support/call-steps.ts';
import type { MessagesRequest } from '../servers/messages/request-shape.ts';
import { startWholeBot } from '../support/whole-bot.ts';

const keys = { outer: 'canary-outer-90ab12', inner: 'canary-inner-34cd56' };
const skill = (name: string, tools: string) =>
  `---\nname: ${name}\ndescription: Does ${name}.\nenv: [${name.toUpperCase()}_KEY]\nallowed_tools: [${tools}]\n---\nDo ${name}.\n`;
const toml = `[access]\ndm = "open"\n[skills]\nbundled = false
[skills.outer]\nOUTER_KEY = "${keys.outer}"\n[skills.inner]\nINNER_KEY = "${keys.inner}"\n`;

/** Looks for everything that a command could know, also of what ran before in the same conversation. */
const look =
  'printenv; cat /proc/self/environ /proc/*/environ 2>/dev/null; env > /chat/env.$$; cat /chat/env.*';

const runOf = ({ system }: MessagesRequest): string | undefined =>
  /You carry out the skill \\"([a-z]+)\\"/.exec(JSON.stringify(system))?.[1];

test('U3 U7 S2 commands of a run know the env of their own skill and of no other, chained or before, and no model sees a value', async (t) => {
  const { telegram, messages } = await startWholeBot(t, {
    sandbox: 'auto',
    toml,
    skills: { outer: skill('outer', 'Bash, use_skill'), inner: skill('inner', 'Bash') },
    script: (body) => {
      const run = runOf(body);
      const calls = {
        outer: [
          { name: 'bash', input: { command: 'printenv' } },
          { name: 'use_skill', input: { skill: 'inner', message: 'go' } },
          { name: 'bash', input: { command: 'printenv' } },
        ],
        inner: [{ name: 'bash', input: { command: look } }],
      }[run ?? ''];
      const call = calls?.[resultsIn(body).length];
      if (call === undefined) return run === undefined ? 'All done.' : 'done';
      return { content: [{ type: 'tool_use', id: `toolu_${run}_${resultsIn(body).length}`, ...call }] };
    },
  });
  const ann = telegram.person({ name: 'Ann' });
  ann.says('/outer go');
  await ann.dm.nextMessage('All done.');
  const seenBy = (name: string): readonly string[] =>
    resultsIn(messages.requests.map(({ body }) => body).findLast((body) => runOf(body) === name)!);
  const [before, , after] = seenBy('outer');
  for (const printed of [before!, after!]) {
    assert.match(printed, /OUTER_KEY=\[redacted OUTER_KEY\]/);
    assert.doesNotMatch(printed, /INNER_KEY/);
  }
  const [inside] = seenBy('inner');
  assert.match(inside!, /INNER_KEY=\[redacted INNER_KEY\]/);
  assert.doesNotMatch(inside!, /OUTER_KEY/);
  const all = JSON.stringify(messages.requests);
  for (const value of Object.values(keys)) assert.equal(all.includes(value), false);
});
