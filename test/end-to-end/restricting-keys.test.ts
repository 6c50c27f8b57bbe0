import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MessagesRequest } from '../servers/messages/request-shape.ts';
import { startWholeBot } from '../support/whole-bot.ts';

const toml = '[access]\ndm = "open"\n[bot]\nshutdown_seconds = 1\n';
const isRun = ({ system }: MessagesRequest): boolean =>
  /You carry out the skill/.test(JSON.stringify(system));
const lastOf = (body: MessagesRequest): string => JSON.stringify(body.messages.at(-1));
const skill = (name: string, more = '') =>
  `---\nname: ${name}\ndescription: Does ${name}.\n${more}---\nDo ${name}.\n`;
const call = (name: string, input: object) => ({
  content: [{ type: 'tool_use' as const, id: `toolu_${name}`, name, input }],
});

test('F11 a run of a skill that disallows tools is not offered them, and a call of one is refused', async (t) => {
  const { telegram, messages } = await startWholeBot(t, {
    toml,
    skills: { narrow: skill('narrow', 'disallowedTools: Bash, Write, WebFetch\n') },
    script(body) {
      const told = /TOOL_NOT_ALLOWED/.test(lastOf(body)) ? 'was refused' : 'was allowed';
      if (isRun(body))
        return /tool_result/.test(lastOf(body)) ? `it ${told}` : call('bash', { command: 'id' });
      const heard = /it was (refused|allowed)/.exec(lastOf(body))?.[0];
      return heard ?? call('use_skill', { skill: 'narrow', message: 'go' });
    },
  });
  const ann = telegram.person({ name: 'Ann' });
  ann.says('go');
  await ann.dm.nextMessage('it was refused');
  const offered = messages.requests
    .filter(({ body }) => isRun(body))
    .flatMap(({ body }) => (body.tools ?? []).map(({ name }) => name));
  for (const name of ['bash', 'write_file', 'web_fetch', 'skills_run_script'])
    assert.ok(!offered.includes(name), name);
  assert.ok(offered.includes('read_file'));
});

test('F11 a skill with a restriction that is not known is off until the config enables it', async (t) => {
  const told = skill('told', 'denied-tools: Bash\n');
  const set = await startWholeBot(t, { toml, skills: { told }, script: () => 'ordinary' });
  const ann = set.telegram.person({ name: 'Ann' });
  ann.says('/told now');
  await ann.dm.nextMessage('told is off until an owner enables it.');
  assert.ok(
    !set.messages.requests.some(({ body }) => isRun(body) || /- told/.test(JSON.stringify(body.system))),
  );
  const on = await startWholeBot(t, {
    toml: `${toml}[skills.told]\nenabled = true\n`,
    skills: { told },
    script: () => 'done',
  });
  const bob = on.telegram.person({ name: 'Bob' });
  bob.says('/told now');
  await bob.dm.nextMessage('done');
  assert.ok(on.messages.requests.some(({ body }) => isRun(body)));
});
