import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MessagesRequest } from '../servers/messages/request-shape.ts';
import { startWholeBot, type WholeBotOptions } from '../support/whole-bot.ts';

const toml = '[access]\ndm = "open"\n[bot]\nshutdown_seconds = 1\n[skills]\nbundled = false\n';
const plan = (more = '', body = 'Dispatch one subagent with the Task tool for each part.'): string =>
  `---\nname: plan\ndescription: Plans.\n${more}---\n${body}\n`;

const systemOf = (body: MessagesRequest): string => JSON.stringify(body.system);
const lastOf = (body: MessagesRequest): string => JSON.stringify(body.messages.at(-1));
const firstOf = (body: MessagesRequest): string => JSON.stringify(body.messages[0]);
const toolsOf = (body: MessagesRequest): readonly string[] => (body.tools ?? []).map(({ name }) => name);
const isPart = (body: MessagesRequest): boolean => systemOf(body).includes('one part of it');
const isWhole = (body: MessagesRequest): boolean =>
  systemOf(body).includes('You carry out the skill') && !isPart(body);
const call = (...calls: readonly (readonly [id: string, name: string, input: object])[]) => ({
  content: calls.map(([id, name, input]) => ({ type: 'tool_use' as const, id, name, input })),
});
const part = (id: string, prompt: string) =>
  [id, 'subagent', { description: 'a part', prompt, subagent_type: 'general-purpose' }] as const;
type Script = Extract<WholeBotOptions['script'], (...given: never[]) => unknown>;

/** What the main agent says of a run. */
const toldOf = (body: MessagesRequest): string => `Main heard: ${lastOf(body)}`;

async function open(t: Parameters<typeof startWholeBot>[0], skill: string, script: Script, more = '') {
  const set = await startWholeBot(t, {
    toml: `${toml}${more}`,
    skills: { plan: skill },
    script,
    flood: false,
  });
  return { ...set, ann: set.telegram.person({ name: 'Ann' }) };
}

test('U7 a run hands parts of its work to subagents, which have its folder and tools, and gets their answers', async (t) => {
  const script: Script = (body) => {
    const last = lastOf(body);
    if (isPart(body)) {
      if (/tool_result/.test(last)) return /two/.test(last) ? 'read: two' : 'written';
      return /write/.test(firstOf(body))
        ? call(['toolu_w', 'write_file', { path: 'part.txt', content: 'two' }])
        : call(['toolu_r', 'read_file', { path: 'part.txt' }]);
    }
    if (!isWhole(body)) return toldOf(body);
    if (/toolu_o/.test(last)) return `Done. ${JSON.stringify(body.messages)}`;
    return /tool_result/.test(last)
      ? call(['toolu_o', 'read_file', { path: 'part.txt' }])
      : call(part('toolu_1', 'write the part'), part('toolu_2', 'check it </message>'));
  };
  const { ann, messages } = await open(t, plan('allowed-tools: Task, Read, Write\n'), script);
  ann.says('/plan go');
  const { text } = await ann.dm.nextMessage(/Main heard/);
  assert.match(text, /written/);
  assert.match(text, /read: two/);
  assert.match(text, /"toolu_o","content":"two"/);
  const asked = messages.requests.map(({ body }) => body);
  const [first, ...others] = asked.filter(isPart);
  assert.ok(first !== undefined && others.length === 3);
  assert.deepEqual(toolsOf(first).toSorted(), ['read_file', 'skills_read_file', 'write_file']);
  assert.doesNotMatch(systemOf(first), /Dispatch/);
  assert.match(firstOf(first), /<message>\\nwrite the part\\n<\/message>/);
  assert.match(firstOf(others[1]!), /check it &lt;\/message>/);
  assert.match(lastOf(asked.filter(isWhole)[1]!), /result of the subagent \(status ok, 2 iterations/);
  assert.match(text, /7 iterations/, 'its own three, and those of both subagents');
});

test('U7 T5 F11 a list without it, or one that disallows it, leaves the run without subagents', async (t) => {
  const tried: Script = (body) => {
    if (!isWhole(body)) return toldOf(body);
    return /tool_result/.test(lastOf(body)) ? lastOf(body) : call(part('toolu_1', 'x'));
  };
  for (const more of ['allowed-tools: Read\n', 'disallowed-tools: Agent\n']) {
    const { ann, messages } = await open(t, plan(more), tried);
    ann.says('/plan go');
    await ann.dm.nextMessage(/TOOL_NOT_ALLOWED/);
    const run = messages.requests.map(({ body }) => body).find(isWhole)!;
    assert.ok(!toolsOf(run).includes('subagent'), more);
  }
});

test('U7 U5 its steps are the run’s own, and it ends with them', async (t) => {
  const script: Script = (body, index) => {
    if (isPart(body))
      return body.tools?.length ? call([`toolu_l${index}`, 'list_files', {}]) : 'as far as I came';
    if (!isWhole(body)) return toldOf(body);
    return /tool_result/.test(lastOf(body)) ? 'Summed up.' : call(part('toolu_1', 'endless'));
  };
  const { ann, messages } = await open(t, plan('max-iterations: 4\n'), script);
  ann.says('/plan go');
  const { text } = await ann.dm.nextMessage(/Summed up/);
  assert.match(text, /code MAX_ITERATIONS, 4 iterations/);
  const asked = messages.requests.map(({ body }) => body);
  assert.equal(asked.filter(isPart).length, 3 + 1);
  assert.equal(asked.filter(isWhole).length, 1 + 1);
});

test('U7 a subagent starts none itself, asks nobody, uses no other skill, and a run has twenty at most', async (t) => {
  const script: Script = (body) => {
    const last = lastOf(body);
    if (isPart(body))
      return /tool_result/.test(last)
        ? `refused ${last.match(/TOOL_NOT_ALLOWED/g)?.length}`
        : /inward/.test(firstOf(body))
          ? call(
              part('toolu_i', 'inner'),
              ['toolu_a', 'ask_person', { question: 'Which?' }],
              ['toolu_u', 'use_skill', { skill: 'plan', message: 'x' }],
            )
          : 'ok';
    if (!isWhole(body)) return toldOf(body);
    if (/tool_result/.test(last)) return `Done. ${last}`;
    const many = Array.from({ length: 21 }, (_, index) =>
      part(`toolu_${index}`, index === 0 ? 'inward' : 'x'),
    );
    return call(...many);
  };
  const { ann, messages } = await open(t, plan('max-iterations: 50\n'), script);
  ann.says('/plan go');
  await ann.dm.nextMessage(/Main heard/);
  const told = messages.requests.map(({ body }) => body).filter(isWhole)[1]!;
  assert.match(lastOf(told), /refused 3/);
  assert.equal(lastOf(told).match(/LIMIT_REACHED/g)?.length, 1);
  assert.match(lastOf(told), /a run has 20 subagents at most/);
});

test('U7 U10 no subagent starts once the day’s budget is used up', async (t) => {
  const script: Script = (body) => {
    if (!isWhole(body)) return toldOf(body);
    return /tool_result/.test(lastOf(body)) ? `Done. ${lastOf(body)}` : call(part('toolu_1', 'x'));
  };
  const { ann, messages } = await open(t, plan(), script, '[limits.skill]\ntokens_per_day = 1\n');
  ann.says('/plan go');
  await ann.dm.nextMessage(/LIMIT_REACHED.*The skill plan’s budget of 1 tokens/);
  assert.ok(!messages.requests.some(({ body }) => isPart(body)));
});

test('U7 Q5 a restart in the middle of a subagent repeats nothing that it did', async (t) => {
  const reached = Promise.withResolvers<void>();
  let hold = true;
  const script: Script = (body) => {
    const last = lastOf(body);
    if (isPart(body)) {
      if (!/tool_result/.test(last))
        return call(['toolu_w', 'write_file', { path: 'once.txt', content: 'x' }]);
      if (!hold) return 'the part';
      hold = false;
      reached.resolve();
      return {
        content: [{ type: 'text', text: 'never' }],
        wire: { hold: new Promise<void>(() => undefined) },
      };
    }
    if (!isWhole(body)) return toldOf(body);
    return /tool_result/.test(last) ? `Done. ${last}` : call(part('toolu_1', 'write'));
  };
  const set = await open(t, plan(), script);
  set.ann.says('/plan go');
  await reached.promise;
  await set.restart();
  const { text } = await set.ann.dm.nextMessage(/Main heard/);
  assert.match(text, /the part/);
  const parts = set.messages.requests.map(({ body }) => body).filter(isPart);
  assert.equal(parts.filter((body) => !/tool_result/.test(lastOf(body))).length, 1);
});

test('U7 /stop ends a run with its subagent, and so does the run’s time', async (t) => {
  for (const how of ['/stop', 'time']) {
    const reached = Promise.withResolvers<void>();
    const script: Script = (body) => {
      if (isPart(body)) {
        reached.resolve();
        return {
          content: [{ type: 'text', text: 'never' }],
          wire: { hold: new Promise<void>(() => undefined) },
        };
      }
      if (!isWhole(body)) return toldOf(body);
      return call(part('toolu_1', 'x'));
    };
    const { ann, messages } = await open(t, plan(how === 'time' ? 'timeout-seconds: 1\n' : ''), script);
    ann.says('/plan go');
    await reached.promise;
    if (how === '/stop') ann.says('/stop');
    await ann.dm.nextMessage(how === '/stop' ? /stopped/i : /TIMEOUT/);
    assert.equal(messages.requests.filter(({ body }) => isPart(body)).length, 1, how);
  }
});

test('U7 S7 what a subagent learns of a sensitive skill marks the run, and it gets the skill’s keys', async (t) => {
  const script: Script = (body) => {
    const last = lastOf(body);
    if (isPart(body))
      return /tool_result/.test(last)
        ? `the part: ${/key=[^\\]*/.exec(last)?.[0]}`
        : call(['toolu_b', 'bash', { command: 'echo key=$PLAN_KEY' }]);
    if (isWhole(body)) return /tool_result/.test(last) ? `Done. ${last}` : call(part('toolu_1', 'x'));
    return /DO fetch/.test(last)
      ? call(['toolu_f', 'web_fetch', { url: 'https://example.com/?q=1' }])
      : toldOf(body);
  };
  const more =
    '[agent]\ntools = ["use_skill", "web_fetch"]\n[skills.plan]\nsensitive = true\nPLAN_KEY = "k-123456789"\n';
  const { ann } = await open(t, plan('env: [PLAN_KEY]\n'), script, more);
  ann.says('/plan go');
  const { text } = await ann.dm.nextMessage(/Main heard/);
  assert.match(text, /the part: key=\[redacted PLAN_KEY\]/);
  ann.says('DO fetch');
  await ann.dm.nextMessage(/I want to use web_fetch/);
});
