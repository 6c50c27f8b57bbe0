import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Config } from '../../src/config/complete-config.ts';
import { formatConfigProblem, type ConfigProblem } from '../../src/config/config-problem.ts';
import { secretsOfConfig } from '../../src/config/secrets-of-config.ts';
import { parseConfig } from '../../src/config/parse-config.ts';
import { reservedSkillNames } from '../../src/config/skill-sections.ts';
import { equalData } from '../support/equal-data.ts';

const surroundings = { file: '/etc/bot/config.toml', env: {}, cwd: '/', home: '/home/op' };

function problemsOf(text: string, env: Record<string, string> = {}): readonly ConfigProblem[] {
  const parsed = parseConfig(text, { ...surroundings, env });
  return parsed.ok ? [] : parsed.problems;
}

function lines(text: string, env: Record<string, string> = {}): readonly string[] {
  return problemsOf(text, env).map(formatConfigProblem);
}

function configOf(text: string, env: Record<string, string> = {}): Config {
  const parsed = parseConfig(text, { ...surroundings, env });
  assert.ok(parsed.ok, parsed.ok ? '' : parsed.problems.map(formatConfigProblem).join('\n'));
  return parsed.config;
}

test('G2 a problem names file, line, column, key, what was found and what to write', () => {
  assert.deepEqual(problemsOf('[bot]\nname = "Ada"\n\n[telegram]\n  mode = "pull"\n'), [
    {
      file: '/etc/bot/config.toml',
      line: 5,
      column: 3,
      key: 'telegram.mode',
      found: '"pull"',
      message: 'telegram.mode is "pull": write "polling" or "webhook".',
    },
  ]);
});

test('G2 a table where a list of tables belongs says how to write one', () => {
  for (const [text, key] of [
    ['[skills.sources]\nrepo = "a/b"', 'skills.sources'],
    ['[plugins]\npath = "a"', 'plugins'],
    ['[policy.rules]\ntool = "a"', 'policy.rules'],
  ] as const) {
    const [found] = problemsOf(text);
    assert.match(found?.message ?? '', /is a table: write a list; .* double brackets/, key);
    assert.equal(found?.key, key);
  }
});

test('G2 all problems are told at once, in the order of the file', () => {
  const found = problemsOf(`
[limits]
runs_per_hour = -1
[bot]
owner = ["@ana"]
nmae = "x"
[skills.gmail]
sensitve = true
API_KEY = 5
[[plugins]]
path = "a"
[[plugins]]
[agent]
model = "hiku"
[telegram]
mode = "webhook"
token = "$NOT_SET"
listen = 5
`);
  assert.deepEqual(
    found.map(({ line, key }) => `${line} ${key}`),
    [
      '3 limits.runs_per_hour',
      '5 bot.owner[0]',
      '6 bot.nmae',
      '8 skills.gmail.sensitve',
      '9 skills.gmail.API_KEY',
      '12 plugins[1]',
      '14 agent.model',
      '15 telegram.webhook_url',
      '15 telegram.webhook_secret',
      '17 telegram.token',
      '18 telegram.listen',
    ],
  );
  for (const { message } of found) assert.match(message, /^\S.*[.?]$/s);
});

test('G2 an unknown key is an error with the nearest known one', () => {
  assert.deepEqual(lines('[acess]\ndm = "open"'), [
    '/etc/bot/config.toml:1:1: acess is not a known key: did you mean access?',
  ]);
  const one = (text: string): string => problemsOf(text)[0]?.message ?? 'nothing';
  assert.match(one('[skills]\nenabeld = true'), /did you mean enabled\?$/);
  assert.match(one('[skills.gmail]\nsensitve = true'), /did you mean sensitive\?$/);
  assert.match(one('[access.chats."slack:C1"]\ngroup_user = []'), /did you mean group_users\?$/);
  assert.match(one('[[policy.rules]]\ntol = "x"\ntool = "y"\naction = "deny"'), /did you mean tool\?$/);
  assert.match(one('[models.default]\nbaseurl = "x"'), /did you mean base_url\?$/);
  assert.match(one('[log]\nzzzzzz = 1'), /known here: level, format\.$/);
});

test('G2 text that is no TOML is one problem with its place, and none of the lines around it is quoted', () => {
  const secret = 'hunter2hunter2';
  for (const broken of ['b = "x', 'b = nope', '[c', 'a = 1', 'b = 1 2', 'b = [1', '__proto__ = 1']) {
    const text = `a = "${secret}"\n${broken}\nd = "${secret}"`;
    const [problem, ...rest] = problemsOf(text);
    assert.equal(rest.length, 0);
    assert.ok(
      problem !== undefined && (problem.line === 2 || problem.line === 3),
      `${broken}: ${problem?.line}`,
    );
    assert.ok(!JSON.stringify(problem).includes(secret), broken);
    assert.match(problem.message, /: .+\.$/);
  }
});

test('S6 a file that nests without end is refused, not followed', () => {
  const dotted = `tools.x.${'a.'.repeat(20_000)}a = 1`;
  const table = `[tools.x.${'a.'.repeat(20_000)}a]`;
  const brackets = `[tools.x]\na = ${'['.repeat(5000)}${']'.repeat(5000)}`;
  for (const text of [dotted, table, brackets]) assert.match(lines(text)[0] ?? '', /config\.toml:.*: .+\.$/);
  assert.match(lines(dotted)[0] ?? '', /deeper than 50 levels/);
});

test('G4 an empty file gives the defaults that the contract names', () => {
  const { bot, telegram, slack, access, agent, prompt, skills, policy, limits, audit, server, store } =
    configOf('');
  assert.deepEqual(bot, {
    name: 'Skillet',
    language: 'auto',
    owner: [],
    dataDir: '/etc/bot/data',
    workspace: '/etc/bot/workspace',
    shutdownSeconds: 5,
    retentionDays: 90,
  });
  assert.equal(telegram.mode, 'polling');
  assert.equal(telegram.apiRoot, 'https://api.telegram.org');
  assert.equal(telegram.listen, '127.0.0.1:8443');
  assert.deepEqual([telegram.paced, telegram.reaction], [true, '']);
  assert.deepEqual([slack.mode, slack.apiUrl, slack.command], ['socket', 'https://slack.com/api/', '/skill']);
  assert.deepEqual([slack.allowExternal, slack.threadFollow], [false, true]);
  assert.deepEqual(access, {
    users: [],
    groups: [],
    dm: 'pairing',
    groupsMode: 'allowlist',
    mention: 'required',
    chats: {},
  });
  assert.equal(agent.model, 'default');
  assert.deepEqual([agent.maxTurns, agent.concurrency], [25, 8]);
  assert.deepEqual([agent.detachAfterSeconds, agent.backgroundMessages], [60, 20]);
  assert.deepEqual(prompt, { skillsFormat: 'markdown', includeLocation: false });
  assert.deepEqual([skills.enabled, skills.strict, skills.bundled], [true, false, true]);
  assert.equal(skills.userDir, '/home/op/.skillet/skills');
  assert.deepEqual([skills.allowedToolsEnforcement, skills.invalidAllowedTools], ['on', 'error']);
  const { safe, moderate, dangerous, critical, approvers } = policy;
  assert.deepEqual([safe, moderate, dangerous, critical], ['allow', 'allow', 'confirm', 'deny']);
  assert.deepEqual(approvers, []);
  const { concurrentRuns, runsPerHour, tokensPerDay, usdPerDay } = limits;
  assert.deepEqual([concurrentRuns, runsPerHour, tokensPerDay, usdPerDay], [3, 120, 2_000_000, 10]);
  for (const wider of [limits.chat, limits.skill, limits.global]) {
    assert.ok(wider.concurrentRuns > concurrentRuns && wider.runsPerHour > runsPerHour);
    assert.ok(wider.tokensPerDay > tokensPerDay && wider.usdPerDay > usdPerDay);
  }
  assert.equal(audit.arguments, false);
  assert.equal(server.listen, undefined);
  assert.equal(store.url, 'sqlite:/etc/bot/data/skillet.db');
});

test('G4 folders are relative to the config file, ~ is the home of who runs it', () => {
  const config = configOf(`
[bot]
data_dir = "../var"
workspace = "~/work"
[[skills.sources]]
path = "~"
[[plugins]]
path = "plugins/a"`);
  assert.equal(config.bot.dataDir, '/etc/var');
  assert.equal(config.bot.workspace, '/home/op/work');
  assert.equal(config.skills.sources[0]?.path, '/home/op');
  assert.equal(config.plugins[0]?.path, '/etc/bot/plugins/a');
  assert.equal(config.store.url, 'sqlite:/etc/var/skillet.db');
  assert.equal(configOf('[store]\nurl = "sqlite:x/y.db"').store.url, 'sqlite:/etc/bot/x/y.db');
  assert.equal(configOf('[store]\nurl = "postgres://u@h/d"').store.url, 'postgres://u@h/d');
});

test('G4 a skill has its keys and its environment side by side, and no reserved name', () => {
  const { skills } = configOf(
    '[skills.research]\nenabled = true\nenv_in_bash = false\nAPI_KEY = "1.10"\n_X2 = ""',
  );
  assert.deepEqual(skills.byName, {
    research: { enabled: true, envInBash: false, env: { API_KEY: '1.10', _X2: '' } },
  });
  assert.ok(reservedSkillNames.includes('defaults') && reservedSkillNames.includes('sources'));
  for (const name of reservedSkillNames) {
    const [problem] = problemsOf(`[skills.${name}]\nsensitive = true`);
    assert.ok(problem?.key?.startsWith(`skills.${name}`), name);
  }
});

test('G4 a slip in [skills.defaults] is not taken for a skill that restricts nothing', () => {
  assert.match(lines('[skills.default]\nallow_chat_ids = [1]')[0] ?? '', /write \[skills\.defaults\]/);
});

test('U3 a variable that steers an interpreter is a problem of the config', () => {
  for (const name of ['PATH', 'LD_PRELOAD', 'NODE_OPTIONS', 'PYTHONPATH', 'HTTPS_PROXY']) {
    const [line = ''] = lines(`[skills.a]\nKEY = "k"\n${name} = "x"`);
    assert.match(line, new RegExp(`:3:1: skills\\.a\\.${name} .*skills can't get this variable.*remove`));
  }
});

test('U3 a variable of a skill is text, exactly as written', () => {
  for (const value of ['5', 'true', '["a"]', '2024-01-01']) {
    assert.match(
      lines(`[skills.a]\nKEY = ${value}`)[0] ?? '',
      /:2:1: skills\.a\.KEY is .*write it in quotes/,
    );
  }
  assert.equal(configOf("[skills.a]\nKEY = ' 007 '").skills.byName['a']?.env['KEY'], ' 007 ');
});

test('A1 the platforms’ own words for chat types are read as their normal form', () => {
  const { skills } = configOf('[skills.a]\nchat_types = ["supergroup", "dm", "im", "mpim", "channel"]');
  assert.deepEqual(skills.byName['a']?.chatTypes, ['group', 'private', 'private', 'group', 'channel']);
  assert.match(lines('[skills.a]\nchat_types = ["topic"]')[0] ?? '', /write "private", "group" or "channel"/);
});

test('A4 ids are text or whole numbers, bare or qualified', () => {
  const { skills } = configOf('[skills.a]\nallow_chat_ids = [-100123, "-100123", "telegram:-1", "slack:C1"]');
  assert.deepEqual(skills.byName['a']?.allowChatIds, ['-100123', '-100123', 'telegram:-1', 'slack:C1']);
  assert.deepEqual(configOf('[access]\nusers = [42]').access.users, ['42']);
  for (const bad of ['1.5', 'true', '{}', '""', '"a b"', '"telegarm:1"', '"slack:"', '"slack:c1"']) {
    assert.equal(problemsOf(`[skills.a]\nallow_chat_ids = [${bad}]`).length, 1, bad);
  }
});

test('A9 a name where an id belongs is refused with the way to find the id', () => {
  const places = [
    '[bot]\nowner',
    '[access]\nusers',
    '[access]\ngroup_users',
    '[skills.a]\nallow_users',
    '[policy]\napprovers',
  ];
  for (const place of places) {
    for (const name of ['@ana', 'telegram:@ana', 'telegram:ana', 'slack:@ana', 'slack:ana']) {
      const [line = ''] = lines(`${place} = ["${name}"]`);
      assert.match(line, /skillet pair list.*Copy member ID/, `${place} ${name}`);
    }
  }
  for (const name of ['@room', '#general', 'slack:#general', 'telegram:@room']) {
    assert.match(lines(`[access]\ngroups = ["${name}"]`)[0] ?? '', /`whoami` shows it/, name);
    assert.match(lines(`[access.chats."${name}"]\ndm = "open"`)[0] ?? '', /`whoami` shows it/, name);
  }
});

test('G4 A9 an owner without a channel is refused with what to write', () => {
  const written = [
    ['"1001"', '"telegram:1001"'],
    ['1001', '"telegram:1001"'],
    ['"U042ABC"', '"slack:U042ABC"'],
  ] as const;
  for (const [bare, whole] of written) {
    const [line = ''] = lines(`[bot]\nowner = [${bare}]`);
    assert.ok(line.includes(`write the channel too: ${whole}`), line);
    assert.deepEqual(configOf(`[bot]\nowner = [${whole}]`).bot.owner, [whole.slice(1, -1)]);
  }
});

test('A9 a star opens only what it was made for', () => {
  assert.deepEqual(configOf('[access]\nusers = ["slack:*"]\ngroup_users = ["*"]').access.users, ['slack:*']);
  const refused = ['users = ["*"]', 'users = ["telegram:*"]', 'group_users = ["slack:*"]', 'groups = ["*"]'];
  for (const line of refused) assert.equal(problemsOf(`[access]\n${line}`).length, 1, line);
  for (const place of ['[bot]\nowner', '[policy]\napprovers', '[skills.a]\nallow_users']) {
    for (const star of ['*', 'slack:*']) assert.equal(problemsOf(`${place} = ["${star}"]`).length, 1, place);
  }
});

test('H3 webhook mode without address and secret is refused', () => {
  assert.deepEqual(
    problemsOf('[telegram]\nmode = "webhook"').map(({ key }) => key),
    ['telegram.webhook_url', 'telegram.webhook_secret'],
  );
  const whole = '[telegram]\nmode = "webhook"\nwebhook_url = "https://a.example"\nwebhook_secret = "s-1"';
  assert.equal(configOf(whole).telegram.webhookSecret, 's-1');
});

test('H4 a Slack token without its partner is refused', () => {
  assert.deepEqual(
    problemsOf('[slack]\nbot_token = "x"').map(({ key }) => key),
    ['slack.app_token'],
  );
  const http = '[slack]\nbot_token = "x"\napp_token = "y"\nmode = "http"';
  assert.deepEqual(
    problemsOf(http).map(({ key }) => key),
    ['slack.signing_secret'],
  );
  assert.deepEqual(
    problemsOf('[slack]\napp_token = "y"').map(({ key }) => key),
    ['slack.bot_token'],
  );
});

test('T8 a policy rule that names nothing is refused: it would hold for every call', () => {
  assert.match(
    lines('[[policy.rules]]\naction = "allow"')[0] ?? '',
    /at least one of tool, skill, chat and sender/,
  );
});

test('G5 "$NAME" anywhere is the variable NAME, and "$$NAME" the text', () => {
  const text = `
[bot]
owner = ["$OWNER", "telegram:7"]
name = "$$OWNER"
[skills.a]
KEY = "$SECRET"
PRICE = "$5"
[tools.x]
list = [{ deep = "$SECRET" }]`;
  const config = configOf(text, { OWNER: 'telegram:42', SECRET: 's e c' });
  assert.deepEqual(config.bot.owner, ['telegram:42', 'telegram:7']);
  assert.equal(config.bot.name, '$OWNER');
  assert.deepEqual(config.skills.byName['a']?.env, { KEY: 's e c', PRICE: '$5' });
  assert.deepEqual(config.tools['x'], { list: [{ deep: 's e c' }] });
});

test('G5 a variable that is missing or empty is a problem that names it and its key', () => {
  for (const env of [{}, { TOKEN: '' }] as Record<string, string>[]) {
    const [problem, ...rest] = problemsOf('[telegram]\ntoken = "$TOKEN"', env);
    assert.equal(rest.length, 0);
    assert.equal(problem?.key, 'telegram.token');
    assert.match(problem?.message ?? '', /environment has no TOKEN/);
  }
  assert.match(
    lines('[bot]\nname = "$toString"\nowner=["$HOME"]')[0] ?? '',
    /has no HOME/,
    'only capitals are names',
  );
});

test('G4 a config is plain data that cannot be changed', () => {
  const config = configOf('[skills.a]\nKEY = "x"');
  equalData(JSON.parse(JSON.stringify(config)), { ...config });
  assert.throws(() => {
    (config.skills.byName['a'] as { enabled?: boolean }).enabled = false;
  }, TypeError);
});

test('X7 two MCP servers whose tools could get one name are a problem with its fix', () => {
  const servers = (...names: readonly string[]) =>
    names.map((name) => `[mcp."${name}"]\ncommand = "serve"\n`).join('\n');
  assert.match(lines(servers('x', 'x_y')).join('\n'), /\[mcp\.x\] and \[mcp\.x_y\].*rename one, such as x-y/);
  assert.match(lines(servers('my server', 'my_server')).join('\n'), /could get the same name/);
  assert.deepEqual(lines(servers('x', 'x-y', 'xy', 'y_x')), []);
});

test('S12 G5 a problem never shows text that could be a credential, however short, under whatever key', () => {
  const leak = 'hunter2pw';
  const wrong = [
    `[mcp.x]\nurl = "ftp://bob:${leak}@h/mcp"`,
    `[models.default]\nmodel = "m"\nbase_url = "htp://u:${leak}@h"`,
    `[store]\nurl = 5\n[bot]\nname = ["${leak}"]`,
    `[tools.web_search]\nprovider = "${leak}"\nbase_url = "x://u:${leak}@h"`,
    `[telegram]\ntoken = "${leak}"\nmode = "${leak}"`,
    `[telegram]\nmode = "u:${leak}@h"`,
    `[slack]\nmode = "xoxb-${leak}"\nbot_token = 5`,
    `[bot]\nowner = ["${leak}"]`,
    `[bot]\nowner = "${leak}"`,
    `[server]\nlisten = "http://u:${leak}@h"`,
    `[access]\ndm = "${leak}"\nusers = ["${leak}"]\ngroups = "${leak}"`,
    `[log]\nlevel = "${leak}"`,
    `[limits]\nruns_per_hour = "${leak}"`,
    `[skills.a]\nallow_users = ["${leak}"]\nnetwork = ["https://u:${leak}@h"]`,
    `[[skills.sources]]\nrepo = "https://u:${leak}@h"`,
    `[[plugins]]\npath = 5\npackage = { a = "${leak}" }`,
    `[sandbox]\nengine = "${leak}"\nmemory_mb = "${leak}"`,
    `[[policy.rules]]\ntool = ["${leak}"]\naction = "${leak}"`,
  ];
  for (const text of wrong) {
    const found = problemsOf(text);
    assert.notDeepEqual(found, [], text);
    assert.doesNotMatch(JSON.stringify(found), /hunter/, text);
  }
});

test('G2 S12 of public keys what is written is shown, and what may be a credential is not', () => {
  const [token, password] = ['123456789:AAFqx-canary-canary-canary-canary', 'canary7pass'];
  const said = (text: string): string =>
    problemsOf(text)
      .map(({ message }) => message)
      .join('\n');
  assert.match(said('[bot]\ntimezone = "Mars/Base"'), /^bot\.timezone is "Mars\/Base": write a zone/);
  assert.match(said('[access]\nusers = ["@Ann"]'), /^access\.users\[0\].* "@Ann"/);
  for (const leak of [
    token,
    password,
    `@${password}`,
    `telegram:${password}`,
    'xoxb-1-canary',
    'sk-ant-api03-canary',
  ])
    for (const text of [
      `[bot]\ntimezone = "${leak}"\nowner = ["${leak}"]`,
      `[access]\nusers = ["${leak}"]\ngroups = "${leak}"`,
    ])
      assert.doesNotMatch(said(text), /canary/, leak);
  assert.doesNotMatch(said('[hooks]\nsecret = "canary"\n[telegram]\ntoken = ["canary"]'), /canary/);
});

test('L1 S2 where values may be missing, what is there keeps its place and is a secret', () => {
  const text =
    '[mcp.x]\ncommand = "sh"\nargs = ["$GONE", "$HERE"]\n[telegram]\ntoken = "$GONE"\n[store]\nurl = "$GONE"\n[[hooks]]\nname = "ci"\nsecret = "$GONE"\nconversation = "slack:C1"\nas = "slack:U1"\n';
  const parsed = parseConfig(text, { env: { HERE: 'canary-value' }, cwd: '/bot', mayLack: () => true });
  assert.ok(parsed.ok);
  const { mcp, telegram, store } = parsed.config;
  assert.deepEqual(mcp['x']?.args, ['unset', 'canary-value']);
  assert.deepEqual([telegram.token, store.url], ['unset', 'sqlite:/bot/data/skillet.db']);
  assert.ok(
    secretsOfConfig(parsed.config).some(({ name, value }) => name === 'HERE' && value === 'canary-value'),
  );
  const strict = parseConfig(text, {
    env: { HERE: 'canary-value' },
    mayLack: ([section]) => section !== 'store',
  });
  assert.deepEqual(strict.ok ? [] : strict.problems.map(({ key }) => key), ['store.url']);
});

test('A9 G2 a name, a positive group id, and an id of the wrong kind are problems in every list', () => {
  const lists = [
    ['[access]', 'users', ['olga', 'hr', 'Olga', 'C0421ABCD', 'slack:C0421ABCD', '#general']],
    [
      '[access]',
      'groups',
      ['general', 'telegram:100123', '100123', 'U0421ABCD', 'slack:U0421ABCD', 'group:hr'],
    ],
    ['[access.telegram]', 'groups', ['telegram:5']],
    ['[access]', 'group_users', ['olga', 'slack:G0421ABCD']],
    ['[policy]', 'approvers', ['olga', 'slack:C0421ABCD']],
    ['[skills.x]', 'allow_users', ['hr', 'olga']],
    ['[skills.x]', 'allow_chat_ids', ['general', 'W0421ABCD']],
    ['[skills.defaults]', 'allow_chat_ids', ['general']],
    ['[groups.hr]', 'members', ['olga']],
    ['[mcp.files]\nurl = "http://127.0.0.1/"', 'users', ['olga']],
  ] as const;
  for (const [table, key, wrong] of lists)
    for (const id of wrong)
      assert.equal(problemsOf(`${table}\n${key} = ["${id}"]\n`).length, 1, `${table} ${key} ${id}`);
  for (const [table, key, id] of [
    ['[access]', 'users', 'telegram:42'],
    ['[access]', 'users', '42'],
    ['[access]', 'groups', 'telegram:-100123'],
    ['[access]', 'groups', 'slack:C042ABC'],
    ['[skills.x]', 'allow_chat_ids', 'telegram:42'],
    ['[skills.x]', 'allow_users', 'U042ABC'],
    ['[skills.x]', 'allow_users', 'terminal:olga'],
  ] as const)
    assert.deepEqual(problemsOf(`${table}\n${key} = ["${id}"]\n`), [], id);
});

test('A13 G2 a group that is not in [groups] is named in every list of people', () => {
  for (const line of [
    '[access]\nusers = ["group:x"]',
    '[access]\ngroup_users = ["group:x"]',
    '[access.telegram]\ngroup_users = ["group:x"]',
    '[access.chats."telegram:-1"]\ngroup_users = ["group:x"]',
    '[policy]\napprovers = ["group:x"]',
    '[[policy.rules]]\nsender = "group:x"\naction = "deny"',
    '[skills.dice]\nallow_users = ["group:x"]',
    '[mcp.files]\nurl = "http://127.0.0.1/"\nusers = ["group:x"]',
  ])
    assert.match(lines(`${line}\n`).join(), /there is no group of this name/, line);
});

test('G5 a variable in another form than $NAME is a problem, whatever reads it, and its name is told', () => {
  const forms = [
    '${API_KEY}',
    '$(API_KEY)',
    '%API_KEY%',
    '{{ API_KEY }}',
    '${{ secrets.API_KEY }}',
    ' $API_KEY',
    '$API_KEY ',
    '${env:API_KEY}',
    '${API_KEY:-none}',
    'env:API_KEY',
  ];
  for (const form of forms)
    for (const table of [
      '[models.default]\nmodel = "m"\napi_key',
      '[skills.x]\nX_KEY',
      '[telegram]\ntoken',
      '[bot]\ndata_dir',
    ])
      assert.match(
        lines(`${table} = "${form}"\n`, { API_KEY: 'secret-value' }).join(),
        /write "\$API_KEY"/,
        `${table} ${form}`,
      );
  const header =
    '[mcp.files]\nurl = "http://127.0.0.1/"\nheaders = { Authorization = "Bearer ${API_KEY}" }\n';
  assert.match(lines(header).join(), /write "\$API_KEY"/);
  assert.deepEqual(lines('[agent]\npersona = "Say ${NAME} and $HOME."\n'), []);
});

test('G2 an unknown key leads to the key that means the same, not to one that looks alike', () => {
  for (const [table, key, meant] of [
    ['limits', 'dollars_per_day', 'usd_per_day'],
    ['limits', 'daily_dollars', 'usd_per_day'],
    ['limits', 'cost_per_day', 'usd_per_day'],
    ['limits', 'token_per_day', 'tokens_per_day'],
    ['bot', 'admins', 'owner'],
    ['bot', 'tz', 'timezone'],
    ['bot', 'data_folder', 'data_dir'],
    ['access', 'allowed_users', 'users'],
    ['access', 'rooms', 'groups'],
  ] as const)
    assert.match(lines(`[${table}]\n${key} = 1\n`).join(), new RegExp(`did you mean ${meant}\\?`), key);
});

test('N7 G2 a hook with a secret of one letter, and a second hook of one name, are problems', () => {
  const hook = (secret: string): string =>
    `[[hooks]]\nname = "ci"\nsecret = "${secret}"\nconversation = "telegram:-100123"\nas = "telegram:42"\n`;
  const good = 'a-secret-of-many-letters';
  assert.match(lines(hook('x')).join(), /hooks\[0\]\.secret/);
  assert.match(lines(hook(good) + hook(good)).join(), /hooks\[1\]\.name.*another hook has this name/);
});
