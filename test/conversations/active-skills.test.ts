import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allowing, calls, openTurnStage } from '../support/turn-stage.ts';

const everything = [
  'bash',
  'send_file',
  'skills_list',
  'skills_load',
  'skills_read_file',
  'skills_search',
  'use_skill',
  'web_fetch',
  'write_file',
];
const baseline = ['skills_list', 'skills_load', 'skills_read_file', 'skills_search'];

test('T6 T5 from a load on the model is shown, and may call, only what the skill allows, until the turn ends', async (t) => {
  const stage = await openTurnStage(t, {
    skills: { sender: allowing('[send_file, web.fetch]') },
    script: [
      calls('write_file before'),
      calls('skills_load sender'),
      calls('write_file after', 'send_file x', 'web_fetch y', 'use_skill sender', 'skills_list'),
      'Done.',
      calls('write_file next'),
      'Done again.',
    ],
  });
  assert.equal(await stage.ask('go'), 'Done.');
  assert.deepEqual(stage.did, ['write_file before', 'send_file x', 'web_fetch y']);
  const narrowed = [...baseline, 'send_file', 'web_fetch'].toSorted();
  assert.deepEqual(stage.shown(), [everything, everything, narrowed, narrowed]);
  const [, , refused = '', , , alsoRefused = ''] = await stage.results();
  assert.match(refused, /^error TOOL_NOT_ALLOWED: "write_file".*Available: send_file, skills_list/);
  assert.match(alsoRefused, /^error TOOL_NOT_ALLOWED: "use_skill"/);
  await stage.ask('and now?', { id: 'telegram:42:2' });
  assert.deepEqual(stage.shown().slice(-2), [everything, everything]);
  assert.equal(stage.did.at(-1), 'write_file next');
});

test('T6 the change of tools and each refused call are events with fixed fields', async (t) => {
  const stage = await openTurnStage(t, {
    skills: { sender: allowing('send_file') },
    script: [calls('skills_load sender', 'write_file x'), 'Done.'],
  });
  await stage.ask('go');
  const events = stage.log.lines.filter(({ fields }) => 'event' in fields).map(({ fields }) => fields);
  assert.deepEqual(events[0], {
    event: 'skills_allowed_tools_policy_changed',
    mode: 'on',
    enforced: true,
    skill: 'sender',
    allowSetCount: 5,
    ignoredReason: null,
  });
  assert.equal(events[1]?.['event'], 'tool_call_blocked');
  assert.equal(events[1]['tool'], 'write_file');
  assert.equal(events.length, 2);
});

test('T6 later calls of the same answer are bound, and earlier ones not, also where all of them only read', async (t) => {
  const stage = await openTurnStage(t, {
    skills: { reader: allowing('Read') },
    script: [
      // But for the load these would run side by side.
      calls('web_fetch one', 'skills_load reader', 'web_fetch two', 'skills_list'),
      'Done.',
    ],
  });
  await stage.ask('go');
  assert.deepEqual(stage.did, ['web_fetch one']);
  const results = await stage.results();
  assert.match(results[2] ?? '', /^error TOOL_NOT_ALLOWED/);
  assert.match(results[3] ?? '', /"reader"/);
});

test('T6 two loads in one answer leave only what both allow', async (t) => {
  const stage = await openTurnStage(t, {
    skills: { one: allowing('[send_file, web_fetch]'), two: allowing('[web_fetch, bash]') },
    script: [
      calls('web_fetch a', 'skills_load one', 'skills_load two', 'send_file b', 'bash c', 'web_fetch d'),
      'Done.',
    ],
  });
  await stage.ask('go');
  assert.deepEqual(stage.did, ['web_fetch a', 'web_fetch d']);
  assert.deepEqual(stage.shown()[1], [...baseline, 'web_fetch']);
});

test('T6 a skill without a list neither widens nor resets, before or after', async (t) => {
  const stage = await openTurnStage(t, {
    skills: { free: allowing(undefined), empty: allowing('[]'), narrow: allowing('web_fetch') },
    script: [
      calls('skills_load free'),
      calls('skills_load narrow'),
      calls('skills_load free', 'skills_load empty', 'bash x'),
      'Done.',
    ],
  });
  await stage.ask('go');
  const strict = [...baseline, 'web_fetch'];
  assert.deepEqual(stage.shown(), [everything, everything, strict, strict]);
  assert.deepEqual(stage.did, []);
});

test('T6 a load that fails binds nothing', async (t) => {
  const stage = await openTurnStage(t, {
    skills: {
      wrong: allowing('[nothing_of_that_name]'),
      hidden: allowing('Read', 'disable_model_invocation: true\n'),
    },
    script: [
      calls(
        'skills_load absent',
        'skills_load hidden',
        'skills_load wrong',
        'use_skill absent',
        'write_file x',
      ),
      'Done.',
    ],
  });
  await stage.ask('go');
  assert.deepEqual(stage.did, ['write_file x']);
  const [absent = '', hidden = '', wrong = ''] = await stage.results();
  assert.equal(hidden.replaceAll('hidden', 'absent'), absent, 'A11: no oracle');
  assert.match(absent, /^error SKILL_NOT_FOUND/);
  assert.match(
    wrong,
    /^error SKILL_MISCONFIGURED: wrong: allowed_tools names no tool that exists: nothing_of_that_name/,
  );
  assert.ok(!stage.log.lines.some(({ fields }) => fields['event'] === 'skills_allowed_tools_policy_changed'));
});

test('T6 a list that matches nothing known is ignored, or leaves the baseline, as the operator says', async (t) => {
  const script = [calls('skills_load wrong', 'write_file x'), 'Done.'];
  const skills = { wrong: allowing('[nothing_of_that_name]') };
  const ignored = await openTurnStage(t, {
    skills,
    script,
    toml: '[skills]\ninvalid_allowed_tools = "ignore"\n',
  });
  await ignored.ask('go');
  assert.deepEqual(ignored.did, ['write_file x']);
  assert.match((await ignored.results())[0] ?? '', /warning ALLOWED_TOOLS_IGNORED: .*\(NO_MATCHES\)/);
  const { fields } = await ignored.log.line(
    ({ message }) => message === 'skills_allowed_tools_policy_changed',
  );
  assert.deepEqual(
    [fields['enforced'], fields['ignoredReason'], fields['allowSetCount']],
    [false, 'NO_MATCHES', 9],
  );
  const strict = await openTurnStage(t, {
    skills,
    script,
    toml: '[skills]\ninvalid_allowed_tools = "baseline"\n',
  });
  await strict.ask('go');
  assert.deepEqual(strict.did, []);
  assert.deepEqual(strict.shown()[1], baseline);
  assert.match((await strict.results())[0] ?? '', /warning ALLOWED_TOOLS_ENFORCED: /);
});

test('T6 allowed_tools_enforcement = "off" changes nothing, and counts at once', async (t) => {
  const stage = await openTurnStage(t, {
    skills: { narrow: allowing('web_fetch') },
    script: (_request, index) => {
      if (index === 2) stage.settings.toml = '';
      return [
        calls('skills_load narrow', 'write_file a'),
        calls('write_file b'),
        calls('write_file c'),
        'Done.',
      ][index]!;
    },
    toml: '[skills]\nallowed_tools_enforcement = "off"\n',
  });
  await stage.ask('go');
  assert.deepEqual(stage.did, ['write_file a', 'write_file b']);
  assert.doesNotMatch((await stage.results())[0] ?? '', /ALLOWED_TOOLS_ENFORCED/);
  const { fields } = await stage.log.line(({ message }) => message === 'skills_allowed_tools_policy_changed');
  assert.deepEqual([fields['mode'], fields['enforced'], fields['ignoredReason']], ['off', false, 'OFF']);
});

test('T6 D7 loaded twice with an edit between: what either version allows alone is gone, and nothing comes back', async (t) => {
  const stage = await openTurnStage(t, {
    skills: { moody: allowing('[web_fetch, send_file]') },
    script: async (_request, index) => {
      if (index === 1) await stage.edit('moody', allowing('[web_fetch, bash]'));
      if (index === 3) await stage.edit('moody', allowing(undefined));
      return [
        calls('skills_load moody'),
        calls('send_file a', 'bash b', 'web_fetch c'),
        calls('skills_load moody', 'send_file d', 'bash e', 'web_fetch f'),
        calls('skills_load moody', 'write_file g', 'web_fetch h', 'bash i'),
        'Done.',
      ][index]!;
    },
  });
  await stage.ask('go');
  assert.deepEqual(stage.did, ['web_fetch c', 'web_fetch f', 'web_fetch h']);
});

test('T6 an edit that widens, or a skill that is gone, widens nothing', async (t) => {
  const stage = await openTurnStage(t, {
    skills: { moody: allowing('web_fetch') },
    script: async (_request, index) => {
      if (index === 1) await stage.edit('moody', allowing('[web_fetch, bash, write_file]'));
      if (index === 2) await stage.remove('moody');
      return [calls('skills_load moody'), calls('bash a'), calls('bash b', 'web_fetch c'), 'Done.'][index]!;
    },
  });
  await stage.ask('go');
  assert.deepEqual(stage.did, ['web_fetch c']);
});

test('T6 Q5 a turn that goes on after a crash is bound as before, the rest of a cut answer included', async (t) => {
  const skills = { narrow: allowing('web_fetch') };
  const dies = new Error('the process dies here');
  const stage = await openTurnStage(t, {
    skills,
    script: [
      calls('skills_load narrow', 'write_file a'),
      dies,
      calls('write_file b', 'web_fetch c'),
      'Done.',
    ],
  });
  await assert.rejects(stage.ask('go'), dies);
  // Gone meanwhile: what was written down at the load still holds.
  await stage.remove('narrow');
  assert.equal(await stage.ask('go'), 'Done.');
  assert.deepEqual(stage.did, ['web_fetch c']);
  assert.deepEqual(stage.shown().at(-1), [...baseline, 'web_fetch']);
  const loaded = (await stage.entries()).find((entry) => entry.kind === 'tool_result');
  assert.deepEqual(loaded?.activeSkill, { skill: 'narrow', allowedTools: ['web_fetch'] });
});

test('T6 M9 a summary in the middle of the turn frees nothing, and tells which instructions are out of sight', async (t) => {
  let step = 0;
  const stage = await openTurnStage(t, {
    skills: { narrow: allowing('web_fetch', '', 'THE BODY') },
    contextWindow: 4_000,
    script: (request) => {
      if (request.system[0]?.text.startsWith('You keep the memory')) return 'SUMMARY';
      step += 1;
      if (step === 1) return calls('skills_load narrow');
      if (step < 12) return { text: 'filler '.repeat(250), ...(calls(`web_fetch ${step}`) as object) };
      return step === 12 ? calls('write_file x', 'web_fetch end') : 'Done.';
    },
  });
  await stage.ask('go');
  const entries = await stage.entries();
  assert.ok(entries.some((entry) => entry.kind === 'summary' && (entry.folded ?? 0) > 0));
  assert.ok(!stage.did.includes('write_file x') && stage.did.includes('web_fetch end'));
  const last = JSON.stringify(stage.requests.at(-1)?.messages);
  assert.doesNotMatch(last, /THE BODY/);
  assert.match(last, /instructions of the skill narrow.*skills_load/);
});

test('T6 U5 the last call that sums up has no tools, and none that it asks for is made', async (t) => {
  const stage = await openTurnStage(t, {
    skills: { narrow: allowing('web_fetch') },
    maxTurns: 2,
    script: [calls('skills_load narrow'), calls('web_fetch a'), calls('write_file b', 'web_fetch c')],
  });
  await stage.ask('go');
  assert.deepEqual(stage.did, ['web_fetch a']);
  assert.deepEqual(stage.shown()[2], []);
});

test('U8 I5 an inline skill gives its instructions, filled in once, and the main agent goes on under its list', async (t) => {
  const stage = await openTurnStage(t, {
    skills: {
      tone: allowing('[web_fetch]', 'context: inline\n', 'Say $ARGUMENTS, then $0, from {baseDir}.'),
      'tone/references/a.md': 'x',
    },
    script: [
      {
        calls: [
          {
            name: 'use_skill',
            input: { skill: 'tone', message: 'm', args: '"$0 </instruction>" $ARGUMENTS' },
          },
          { name: 'bash', input: { command: 'id' } },
        ],
      },
      calls('web_fetch a'),
      'Done.',
    ],
  });
  await stage.ask('go');
  assert.deepEqual(stage.forked, []);
  assert.deepEqual(stage.did, ['web_fetch a']);
  const [given = ''] = await stage.results();
  assert.equal(
    given,
    [
      'warning ALLOWED_TOOLS_ENFORCED: until the end of this turn you may call only: skills_list, skills_load, skills_read_file, skills_search, web_fetch',
      'Files of the skill, for skills_read_file:',
      '- references/a.md',
      '<instruction skill="tone">',
      'Say "$0 &lt;/instruction>" $ARGUMENTS, then $0 &lt;/instruction>, from /seen/skills/tone.',
      '</instruction>',
    ].join('\n'),
  );
});

test('U8 I5 arguments that found no place are said after the body, as `args` or else as `message`', async (t) => {
  const stage = await openTurnStage(t, {
    skills: { plain: allowing(undefined, 'context: inline\n', 'Be kind.') },
    script: [
      calls('use_skill plain'),
      { calls: [{ name: 'use_skill', input: { skill: 'plain', message: 'm', args: '' } }] },
      'Done.',
    ],
  });
  await stage.ask('go');
  const [withMessage = '', without = ''] = await stage.results();
  assert.match(withMessage, /\nBe kind\.\n\nARGUMENTS: go\n<\/instruction>$/);
  assert.match(without, /\nBe kind\.\n<\/instruction>$/);
});

test('U8 an inline skill whose model is the default one is followed', async (t) => {
  const stage = await openTurnStage(t, {
    skills: { a: allowing(undefined, 'context: inline\nmodel: default\n') },
    script: [calls('use_skill a'), 'Done.'],
  });
  await stage.ask('go');
  assert.deepEqual(stage.forked, []);
});

test('U8 an inline skill with an env, capabilities, packages, scripts, a model or tools the main agent lacks is forked', async (t) => {
  const forks = {
    a: allowing(undefined, 'context: inline\nenv: [A_KEY]\n'),
    b: allowing(undefined, 'context: inline\ncapabilities: [mail.read]\n'),
    c: allowing(undefined, 'context: inline\nmodel: haiku\n'),
    d: allowing('[Read, web_fetch]', 'context: inline\n'),
    e: allowing(undefined, 'context: inline\n'),
    f: allowing(undefined, 'context: inline\nbackground: true\n'),
    g: allowing(undefined, 'context: inline\npackages: [jq]\n'),
    h: allowing(undefined, 'context: inline\n'),
  };
  const stage = await openTurnStage(t, {
    skills: { ...forks, 'h/scripts/run.sh': 'echo h\n' },
    toml: '[skills.e]\nmodel = "haiku"\n',
    script: [calls(...Object.keys(forks).map((name) => `use_skill ${name}`), 'write_file x'), 'Done.'],
  });
  await stage.ask('go');
  assert.deepEqual(stage.forked, Object.keys(forks));
  assert.deepEqual(stage.did, ['write_file x'], 'a fork narrows nothing');
  const why = [
    /environment/,
    /capabilities/,
    /model/,
    /main agent lacks: Read$/m,
    /model/,
    /background/,
    /packages/,
    /scripts/,
  ];
  for (const [index, result] of (await stage.results()).slice(0, why.length).entries()) {
    assert.match(result, /^warning INLINE_FORKED: /);
    assert.match(result.split('\n')[0] ?? '', why[index]!);
    assert.match(result, /<output>\n[a-h] ran/);
  }
});

test('T6 use_skill stays only where it is listed by name: a glob is no listing, and chaining goes on narrowed', async (t) => {
  const stage = await openTurnStage(t, {
    skills: {
      byglob: allowing('["use_*", "*_file", "*"]', 'context: inline\n'),
      byname: allowing('[use_skill, send_file, web_fetch]', 'context: inline\n'),
      next: allowing('[send_file]', 'context: inline\n'),
      free: allowing(undefined),
    },
    script: [
      calls('use_skill byname'),
      calls('use_skill free', 'use_skill next', 'use_skill free', 'web_fetch a', 'send_file b'),
      'Done.',
      calls('use_skill byglob', 'use_skill free', 'send_file c'),
      'Done.',
    ],
  });
  await stage.ask('go');
  assert.deepEqual(stage.forked, ['free']);
  assert.deepEqual(stage.did, ['send_file b']);
  await stage.ask('go', { id: 'telegram:42:2' });
  assert.deepEqual(stage.forked, ['free']);
  assert.deepEqual(stage.did, ['send_file b', 'send_file c']);
  assert.ok(!stage.shown().at(-1)?.includes('use_skill'));
});

test('T6 T5 Bash(…) limits the main agent, and two limits must both hold', async (t) => {
  const stage = await openTurnStage(t, {
    skills: { git: allowing('Bash(git:*)'), log: allowing('["Bash(git log:*)", "Bash(ls:*)"]') },
    script: [
      calls('skills_load git', 'bash git status', 'bash ls', 'bash git log; id'),
      calls('skills_load log', 'bash git status', 'bash ls', 'bash git log -1'),
      'Done.',
    ],
  });
  await stage.ask('go');
  assert.deepEqual(stage.did, ['git status', 'git log -1']);
  assert.match((await stage.results())[2] ?? '', /beginning with: git/);
});

test('I6 T6 an inline skill started by name is an entry of its own, and binds the turn from its first call', async (t) => {
  const stage = await openTurnStage(t, {
    skills: {
      tone: allowing('web_fetch', 'context: inline\ndisable_model_invocation: true\n', 'Say $ARGUMENTS.'),
      'tone/references/a.md': 'the reference',
    },
    script: [
      {
        calls: [
          { name: 'write_file' },
          { name: 'skills_read_file', input: { skill: 'tone', path: 'references/a.md' } },
        ],
      },
      new Error('the process dies here'),
      calls('write_file x'),
      'Said.',
      { calls: [{ name: 'skills_read_file', input: { skill: 'tone', path: 'references/a.md' } }] },
      'Bye.',
    ],
  });
  const invocation = { skill: 'tone', args: 'hello </host>' };
  await assert.rejects(stage.ask('/tone hello </host>', { invocation }));
  assert.equal(await stage.ask('/tone hello </host>', { invocation }), 'Said.');
  assert.deepEqual(stage.did, []);
  assert.deepEqual(stage.shown()[0], [...baseline, 'web_fetch']);
  const [said, skill] = await stage.entries();
  assert.ok(said?.kind === 'user' && skill?.kind === 'user');
  assert.equal(skill.item, 'telegram:42:1#skill');
  assert.match(
    skill.content as string,
    /^\[Skill: tone\]\nwarning ALLOWED_TOOLS_ENFORCED[^]*<instruction skill="tone">\nSay hello &lt;\/host>\.\n<\/instruction>$/,
  );
  assert.ok(
    (await stage.results()).includes('the reference'),
    'its own files can be read, though only a person may start it',
  );
  await stage.ask('thanks', { id: 'telegram:42:2' });
  assert.match((await stage.results()).at(-1) ?? '', /^error SKILL_NOT_FOUND/, 'for that turn only');
});

test('I6 a bare /name of an inline skill says `Run NAME.`', async (t) => {
  const stage = await openTurnStage(t, {
    skills: { tone: allowing(undefined, 'context: inline\n', 'Be kind.') },
    script: ['Kind.'],
  });
  await stage.ask('/tone', { invocation: { skill: 'tone', args: '' } });
  assert.match(
    JSON.stringify(stage.requests[0]?.messages),
    /\[Skill: tone\].*Be kind\.\\n<\/instruction>\\nRun tone\."/,
  );
});

test('T6 M5 what a turn followed is one line in later turns, pairs whole, the same bytes from then on', async (t) => {
  const stage = await openTurnStage(t, {
    skills: { tone: allowing(undefined, 'context: inline\n', 'THE BODY') },
    script: [
      calls('skills_load tone', 'use_skill tone'),
      'One.',
      'Two.',
      'Three.',
      calls('skills_load tone'),
      'Four.',
    ],
  });
  await stage.ask('/tone', { id: 'telegram:42:1', invocation: { skill: 'tone', args: 'x' } });
  assert.equal(JSON.stringify(stage.requests[1]?.messages).match(/THE BODY/g)?.length, 3);
  await stage.ask('two', { id: 'telegram:42:2' });
  await stage.ask('three', { id: 'telegram:42:3' });
  await stage.ask('four', { id: 'telegram:42:4' });
  const [second, third, fourth] = [2, 3, 4].map((index) => JSON.stringify(stage.requests[index]?.messages));
  assert.doesNotMatch(second!, /THE BODY/);
  assert.equal(second!.match(/\[Skill tone was followed here\]/g)?.length, 3);
  assert.equal(second!.match(/"type":"tool_use"/g)?.length, 2);
  assert.equal(second!.match(/"type":"tool_result"/g)?.length, 2);
  assert.ok(third!.startsWith(second!.slice(0, -1)), 'the prefix holds');
  assert.ok(fourth!.startsWith(third!.slice(0, -1)));
  assert.match(JSON.stringify(stage.requests[5]?.messages), /THE BODY/, 'a new load is in view');
  assert.equal(
    JSON.stringify(await stage.entries()).match(/THE BODY/g)?.length,
    4,
    'the store keeps all of it',
  );
});

test('T6 U9 instructions that come later, in a turn of their own, bind that turn', async (t) => {
  const stage = await openTurnStage(t, {
    skills: { narrow: allowing('web_fetch') },
    script: [calls('write_file a', 'web_fetch b'), 'Done.'],
  });
  const activeSkill = { skill: 'narrow', allowedTools: ['web_fetch'] };
  const task = {
    kind: 'result',
    id: 'abcdef',
    skill: 'skills_load',
    result: 'Do as I say.',
    activeSkill,
  } as const;
  await stage.ask('', { task });
  assert.deepEqual(stage.did, ['web_fetch b']);
  assert.deepEqual(stage.shown()[0], [...baseline, 'web_fetch']);
});

test('D9 T6 instructions that nobody agreed to are not given, neither loaded nor inline, and bind nothing', async (t) => {
  const stage = await openTurnStage(t, {
    skills: { changed: allowing('web_fetch', 'context: inline\n', 'THE BODY') },
    script: [calls('skills_load changed', 'use_skill changed', 'write_file x'), 'Done.'],
  });
  stage.unapproved.add('changed');
  await stage.ask('go');
  assert.deepEqual(stage.did, ['write_file x']);
  for (const result of (await stage.results()).slice(0, 2)) assert.match(result, /^error SKILL_DISABLED/);
  assert.doesNotMatch(JSON.stringify(await stage.entries()), /THE BODY/);
});
