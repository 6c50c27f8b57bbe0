import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseSkill } from '../../src/skills/parse/parse-skill.ts';
import { parseYamlFrontMatter } from '../../src/skills/parse/parse-yaml.ts';
import type { Definition, ParseResult } from '../../src/skills/parse/skill-definition.ts';
import { skillText } from './make-root.ts';

function parse(text: string | Uint8Array, directory = '/root/tool'): ParseResult {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text;
  return parseSkill({ path: `${directory}/SKILL.md`, directory, bytes, cut: false, origin: 'workspace' });
}

function good(front: string, body?: string): Definition {
  const result = parse(skillText(`name: tool\ndescription: d\n${front}`, body));
  assert.ok(result.ok, JSON.stringify(result));
  return result.definition;
}

function codes(result: ParseResult): readonly string[] {
  return (result.ok ? result.definition.diagnostics : result.diagnostics).map(({ code }) => code);
}

function refused(text: string | Uint8Array): string {
  const result = parse(text);
  assert.equal(result.ok, false, `loaded: ${JSON.stringify(text.toString()).slice(0, 80)}`);
  return codes(result).at(-1) ?? '';
}

test('F2 a byte order mark, CRLF, trailing spaces and blank lines before are fine, the first and last with a warning', () => {
  const plain = '---\nname: tool\ndescription: d\n---\nBody';
  assert.deepEqual(codes(parse(plain)), []);
  assert.deepEqual(codes(parse(plain.replaceAll('\n', '\r\n'))), []);
  assert.deepEqual(codes(parse(plain.replaceAll('---', '---  '))), []);
  assert.deepEqual(codes(parse(`\uFEFF${plain}`)), ['BYTE_ORDER_MARK']);
  assert.deepEqual(codes(parse(`\n \n${plain}`)), ['BLANK_LINES_FIRST']);
});

test('F2 a language after the dashes, an unclosed block, control characters and bytes that are not UTF-8 are not loaded', () => {
  for (const word of ['js', 'JS', 'json', 'foo', 'coffee', ' javascript', 'yaml'])
    assert.equal(refused(`---${word}\nname: x\n---\nBody`), 'FRONT_MATTER_LANGUAGE', word);
  assert.equal(refused('---\nname: x\ndescription: y\nBody'), 'FRONT_MATTER_UNCLOSED');
  assert.equal(refused('---\nname: x\n ---\nBody'), 'FRONT_MATTER_UNCLOSED');
  assert.equal(refused('# Title\n---\nname: x\n---\n'), 'FRONT_MATTER_MISSING');
  assert.equal(refused('----\nname: x\n---\nBody'), 'FRONT_MATTER_MISSING');
  assert.equal(refused('---\nname: x\ndescription: a\u0007b\n---\nBody'), 'CONTROL_CHARACTER');
  assert.equal(refused(Buffer.from([0x2d, 0x2d, 0x2d, 0x0a, 0xff])), 'NOT_UTF8');
});

test('F2 front matter of 8 KiB loads and one byte more does not', () => {
  const fill = (size: number): string => {
    const front = 'name: tool\ndescription: ';
    return `---\n${front}${'x'.repeat(size - front.length - 1)}\n---\nBody`;
  };
  assert.equal(parse(fill(8192)).ok, true);
  assert.equal(refused(fill(8193)), 'FRONT_MATTER_TOO_LARGE');
});

test('F2 nothing is evaluated and a bad file is bad every time it is read', () => {
  const marker = 'skilletWasHere';
  const evil = `---js\n{ name: (globalThis.${marker} = 1) }\n---\nBody`;
  for (const text of [evil, skillText(`name: !!js/function "globalThis.${marker}=1"`)]) {
    assert.equal(parse(text).ok, false);
    assert.equal(parse(text).ok, false);
  }
  const twice = skillText('name: [a\ndescription: b');
  assert.deepEqual(parse(twice), parse(twice));
  assert.equal(marker in globalThis, false);
});

test('F3 scalars stay the strings that were written', () => {
  const skill = good('version: 1.10\nmetadata:\n  date: 2024-01-01\n  octal: 0o17\n  empty: ~\n  yes: yes');
  assert.equal(skill.version, '1.10');
  assert.deepEqual({ ...skill.metadata }, { date: '2024-01-01', octal: '0o17', empty: '~', yes: 'yes' });
});

test('F3 booleans and integers are coerced by our own schema, quoted or not', () => {
  for (const yes of ['true', 'yes', '1', '"yes"', "'1'", 'True'])
    assert.equal(good(`sensitive: ${yes}`).access.sensitive, true, yes);
  for (const no of ['false', 'no', '0', '"no"'])
    assert.equal(good(`user-invocable: ${no}`).access.userInvocable, false, no);
  assert.equal(good('max_iterations: "7"').maxIterations, 7);
  assert.equal(good('timeout-seconds: 60').timeoutSeconds, 60);
});

test('F3 aliases, anchors, tags, duplicate keys and deep nesting are not loaded', () => {
  const base = 'name: tool\ndescription: d\n';
  assert.equal(refused(skillText(`${base}metadata:\n  a: *b`)), 'YAML_ALIAS');
  assert.equal(refused(skillText(`${base}tags: [&a x, *a]`)), 'YAML_ANCHOR');
  assert.equal(refused(skillText(`${base}version: !!str 1`)), 'YAML_TAG');
  assert.equal(refused(skillText(`${base}version: !x 1`)), 'YAML_TAG');
  assert.equal(refused(skillText(`${base}name: other`)), 'YAML_DUPLICATE_KEY');
  assert.equal(refused(skillText(`${base}tags: ${'['.repeat(20)}${']'.repeat(20)}`)), 'YAML_DEPTH');
});

test('F3 eight lists and maps inside one another are read, nine are not', () => {
  // The front matter is the first of them.
  const lists = (count: number): string => `tags: ${'['.repeat(count)}x${']'.repeat(count)}`;
  assert.equal(parseYamlFrontMatter(lists(7)).ok, true);
  const tooDeep = parseYamlFrontMatter(lists(8));
  assert.equal(tooDeep.ok || tooDeep.problem.code, 'YAML_DEPTH');
});

test('F3 __proto__ and friends are plain keys that touch nothing', () => {
  const skill = good(
    '__proto__: x\nconstructor:\n  prototype: y\nmetadata:\n  __proto__: kept\n  toString: t',
  );
  assert.deepEqual(Object.entries(skill.metadata), [
    ['__proto__', 'kept'],
    ['toString', 't'],
  ]);
  assert.equal(Reflect.get({}, 'x'), undefined);
  assert.equal(Object.prototype.toString.call({}), '[object Object]');
  assert.equal(parse(skillText('name: a\ndescription: b\nexcerpt_separator:\n  toString: x')).ok, true);
});

test('F4 an unquoted colon in name or description is repaired, with a warning', () => {
  const result = parse(skillText("name: tool\ndescription: Use when: it's late\n  and: dark"));
  assert.ok(result.ok);
  assert.equal(result.definition.description, "Use when: it's late and: dark");
  assert.deepEqual(codes(result), ['YAML_REPAIRED']);
  const below = parse(skillText('name: tool\ndescription:\n  Use when: x'));
  assert.equal(below.ok && below.definition.description, 'Use when: x');
});

test('F4 a description that begins with a character which YAML keeps for itself is repaired, as harmless as one with a colon', () => {
  for (const text of ['@Observableを使う', ', it might rain', '`jq` for beginners', '%d: a number']) {
    const result = parse(skillText(`name: tool\ndescription: ${text}`));
    assert.ok(result.ok, text);
    assert.deepEqual([result.definition.description, codes(result)], [text, ['YAML_REPAIRED']]);
  }
  for (const text of ['*all', '&all', '!all of it', '"a" b', '[a] b', '{a} b', '| a'])
    assert.notDeepEqual(codes(parse(skillText(`name: tool\ndescription: ${text}`))), ['YAML_REPAIRED'], text);
});

test('F4 a key that grants something is never repaired', () => {
  for (const key of ['allowed-tools', 'metadata', 'access', 'env', 'license'])
    assert.equal(parse(skillText(`name: tool\ndescription: d: e\n${key}: a: b`)).ok, false, key);
});

test('F4 D7 a repair takes no line that restricts something into a text: the skill is off', () => {
  for (const line of [
    'description: d\n\tsensitive: true',
    'description: d\n  sensitive: true',
    'description: d\n  more: of it\n  "disable-model-invocation": true',
    'description:\n  access:\n    chat_types: [private]',
    'description:\n  opt_in: true',
  ]) {
    const result = parse(skillText(`name: tool\n${line}\ntags: a`));
    assert.deepEqual([result.ok, result.ok || result.accessBroken], [false, true], line);
  }
  assert.ok(parse(skillText('name: tool\ndescription: d\n  sensitively: e\n  net: f')).ok);
});

test('F4 a stray # that cuts a text short gets a warning', () => {
  assert.deepEqual(codes(parse(skillText('name: tool\ndescription: Write C # code'))), [
    'COMMENT_CUTS_VALUE',
  ]);
  assert.deepEqual(codes(parse(skillText('name: tool\ndescription: Write C# code'))), []);
});

test('F5 every problem is reported at once and nothing throws', () => {
  const result = parse(
    skillText('name: tool\ndescription: d\nsensitive: maybe\nenv: [lower]\nmax_iterations: -1\nmodel: [a]'),
  );
  assert.deepEqual(
    (result.ok ? [] : result.diagnostics).map(({ field, level }) => `${field} ${level}`),
    ['env error', 'sensitive error', 'model warning', 'max_iterations warning'],
  );
});

test('F6 defaults are those of the table', () => {
  const skill = good('');
  assert.deepEqual(
    [
      skill.env,
      skill.packages,
      skill.capabilities,
      skill.network,
      skill.tags,
      skill.allowedTools,
      skill.model,
    ],
    [[], [], [], [], [], undefined, undefined],
  );
  assert.deepEqual(
    [skill.maxIterations, skill.timeoutSeconds, skill.context, skill.background, skill.agent],
    [10, 300, 'fork', false, 'general'],
  );
  assert.deepEqual(skill.access, {
    sensitive: false,
    optIn: false,
    disableModelInvocation: false,
    userInvocable: true,
  });
});

test('F6 snake and kebab case are both read, and both at once is an error', () => {
  assert.deepEqual(good('allowed-tools: bash').allowedTools, ['bash']);
  assert.deepEqual(good('allowed_tools: bash').allowedTools, ['bash']);
  assert.equal(
    refused(skillText('name: a\ndescription: b\nallowed-tools: x\nallowed_tools: y')),
    'FIELD_TWICE',
  );
});

test('F6 a name of bad characters becomes a slug, and a name unlike its folder wins', () => {
  const named = (name: string): [string, readonly string[]] => {
    const result = parse(skillText(`name: ${name}\ndescription: d`));
    return [result.ok ? result.definition.name : '', codes(result)];
  };
  assert.deepEqual(named('tool'), ['tool', []]);
  assert.deepEqual(named('My_Tool!'), ['my-tool', ['NAME_INVALID', 'NAME_DIR_MISMATCH']]);
  assert.deepEqual(named('other'), ['other', ['NAME_DIR_MISMATCH']]);
  assert.deepEqual(named('"!!"'), ['tool', ['NAME_INVALID', 'NAME_DIR_MISMATCH']]);
  assert.deepEqual(named('x'.repeat(65)), ['x'.repeat(65), ['NAME_TOO_LONG', 'NAME_DIR_MISMATCH']]);
  const nameless = parse(skillText('description: d'), '/root/Böse Dinge');
  assert.equal(nameless.ok && nameless.definition.name, 'böse-dinge');
});

test('F6 a missing description is the first paragraph of the body, and with none at all nothing is loaded', () => {
  const result = parse(
    skillText('name: tool', '# Title\n\n```sh\ncode\n```\n\nFirst words\nof it.\n\nMore.'),
  );
  assert.equal(result.ok && result.definition.description, 'First words of it.');
  assert.deepEqual(codes(result), ['DESCRIPTION_MISSING']);
  assert.equal(refused(skillText('name: tool', '# Title only')), 'DESCRIPTION_MISSING');
});

test('F6 a description over 1,024 code points is cut with a warning', () => {
  const result = parse(skillText(`name: tool\ndescription: ${'é'.repeat(1025)}`));
  assert.ok(result.ok);
  assert.equal([...result.definition.description].length, 1024);
  assert.deepEqual(codes(result), ['DESCRIPTION_TRUNCATED']);
});

test('F6 an unknown chat type or key under access is not loaded, other words for a type are read', () => {
  assert.deepEqual(good('access:\n  chat_types: [dm, Supergroup, channel]').access.chatTypes, [
    'private',
    'group',
    'channel',
  ]);
  assert.equal(good('access:\n  chat-types: []').access.chatTypes, undefined);
  for (const access of [
    'access:\n  chat_types: [public]',
    'access:\n  chats: [group]',
    'access: private',
    'access:',
    'access:\n  chat_types: ""',
  ]) {
    const result = parse(skillText(`name: tool\ndescription: d\n${access}`));
    assert.ok(!result.ok && result.accessBroken && result.name === 'tool', access);
  }
});

test('F6 version, tags, authors and rationale are read at the top or below metadata, and anything else is kept silent', () => {
  const skill = good('author: Ada\nfoo: bar\nmetadata:\n  tags: a, b\n  version: 2\n  rationale: why');
  assert.deepEqual(
    [skill.authors, skill.tags, skill.version, skill.rationale],
    [['Ada'], ['a', 'b'], '2', 'why'],
  );
  assert.deepEqual(skill.diagnostics, []);
});

test('F6 allowed tools are split on spaces and commas outside parentheses', () => {
  assert.deepEqual(good('allowed-tools: Bash(git:*, gh pr:*), Read Write').allowedTools, [
    'Bash(git:*, gh pr:*)',
    'Read',
    'Write',
  ]);
  assert.deepEqual(good('allowed-tools: []').allowedTools, []);
});

test('F8 an invalid value of a key that grants or restricts is not loaded, of any other key it is the default', () => {
  const strict = [
    'sensitive: maybe',
    'access: x',
    'allowed_tools: ["", " "]',
    'env: lower',
    'packages: "Bad Name!"',
  ];
  strict.push(
    'capabilities: one',
    'network: "*"',
    'network: 10.0.0.1',
    'network: https://a.b',
    'opt_in: 2',
    'user_invocable:',
    'disable_model_invocation: [true]',
  );
  strict.push('env: [A, [B]]', 'allowed_tools:\n  a: b');
  for (const line of strict) {
    const result = parse(skillText(`name: tool\ndescription: d\n${line}`));
    assert.ok(!result.ok && result.accessBroken, line);
    const field = line.split(':')[0];
    assert.ok(
      result.diagnostics.some((found) => found.field === field && found.message.startsWith(`${field}:`)),
      line,
    );
  }
  const lenient = good(
    'context: sideways\nmax_iterations: 0\ntimeout_seconds: soon\nbackground: 7\nmodel: ""\nagent: []',
  );
  assert.deepEqual(
    [lenient.context, lenient.maxIterations, lenient.timeoutSeconds, lenient.background, lenient.agent],
    ['fork', 10, 300, false, 'general'],
  );
  assert.equal(lenient.diagnostics.length, 6);
});

test('F8 lists take a single string, blank items are dropped, and an unquoted hint in brackets is text', () => {
  assert.deepEqual(good('env: API_KEY').env, ['API_KEY']);
  assert.deepEqual(good('env: ["", API_KEY, " "]').env, ['API_KEY']);
  assert.equal(good('argument_hint: [file] [count]').argumentHint, '[file] [count]');
  assert.equal(good('argument_hint: [a]').argumentHint, '[a]');
  assert.equal(good('argument_hint: <query>').argumentHint, '<query>');
});

test('F7 an empty body is not loaded', () => {
  assert.equal(refused('---\nname: tool\ndescription: d\n---\n \n'), 'BODY_EMPTY');
  assert.equal(refused('---\nname: tool\ndescription: d\n---'), 'BODY_EMPTY');
});

test('D7 a syntax error on the lines of an access field counts as a broken access field', () => {
  const inAccess = parse(skillText('name: tool\ndescription: d\naccess:\n  chat_types: [a'));
  const elsewhere = parse(skillText('name: tool\ndescription: d\nmetadata: "x'));
  assert.deepEqual([inAccess.ok, inAccess.ok || inAccess.accessBroken], [false, true]);
  assert.deepEqual([elsewhere.ok, elsewhere.ok || elsewhere.accessBroken], [false, false]);
});

test('F6 requires.pip and install are read: packages of PyPI, and the way to a program in plain words only', () => {
  const read = (metadata: string) => {
    const { python, installs } = good(`metadata: ${metadata}`);
    return { python, installs: { ...installs } };
  };
  const openclaw =
    '{"openclaw":{"requires":{"bins":["gog"],"pip":["openpyxl>=3.1","pillow"]},"install":[{"id":"b","kind":"brew","formula":"steipete/tap/gogcli","bins":["gog"]},{"kind":"node","package":"@ann/wacli","bins":["wacli"]},{"kind":"go","module":"x.example/y@latest","bins":["y"]}]}}';
  assert.deepEqual(read(openclaw), {
    python: ['openpyxl', 'pillow'],
    installs: {
      gog: 'brew install steipete/tap/gogcli',
      wacli: 'npm install -g @ann/wacli',
      y: 'go install x.example/y@latest',
    },
  });
  assert.deepEqual(read('{requires: {pip: openpyxl}}').python, ['openpyxl']);
  const odd =
    '{openclaw: {install: [{kind: brew, formula: "a; id", bins: [a]}, {kind: odd, package: b, bins: [b]}, text]}}';
  assert.deepEqual(read(odd), { python: [], installs: {} });
});

test('F6 metadata.openclaw.requires: env counts as env, bins are programs; what cannot be read is told and stands for nothing', () => {
  const read = (metadata: string) => {
    const { env, programs, diagnostics } = good(`env: [OWN]\n${metadata}`);
    return { env, programs, said: diagnostics.map(({ message }) => message) };
  };
  const inline =
    'metadata: {"openclaw": {"emoji": "x", "requires": {"bins": ["curl", "jq"], "env": ["A_KEY", "OWN"]}}}';
  assert.deepEqual(read(inline), { env: ['OWN', 'A_KEY'], programs: ['curl', 'jq'], said: [] });
  const block =
    'metadata:\n  clawdbot:\n    requires:\n      bins: [gh]\n  moltbot: {requires: {env: B_KEY}}';
  assert.deepEqual(read(block), { env: ['OWN', 'B_KEY'], programs: ['gh'], said: [] });
  const bad = read('metadata: {openclaw: {requires: {env: [PATH=x], bins: ["../sh", "/bin/sh"]}}}');
  assert.deepEqual([bad.env, bad.programs, bad.said.length], [['OWN'], [], 2]);
  for (const odd of [
    'metadata: {openclaw: text}',
    'metadata: {openclaw: {requires: [env]}}',
    'metadata: text',
  ])
    assert.deepEqual(read(odd).env, ['OWN'], odd);
});
