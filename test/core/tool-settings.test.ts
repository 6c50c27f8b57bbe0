import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { settingKinds, type SettingField } from '../../src/core/setting-field.ts';
import { toolSettings, whatToEnter } from '../../src/core/tool-settings.ts';
import { defineTool, readOnly } from '../../src/core/tool.ts';
import { succeed } from '../../src/core/envelope.ts';
import { toolContext } from '../support/tool-context.ts';
import { equalData } from '../support/equal-data.ts';

const everyKind = z.object({
  name: z.string().min(2).max(40).default('home').meta({ title: 'Name of it', description: 'As shown.' }),
  count: z.int().min(1).max(20).default(10).meta({ unit: 'results', step: 5 }),
  ratio: z.number().positive().optional(),
  on: z.boolean().default(true),
  language: z
    .enum(['en', 'de'])
    .default('en')
    .meta({ options: { en: 'English' } }),
  days: z
    .array(z.enum(['mo', 'tu', 'we']))
    .max(2)
    .default([]),
  signature: z.string().default('').meta({ kind: 'text', placeholder: 'Kind regards' }),
  apiToken: z.string().min(8).optional().meta({ secret: true }),
  folder: z.string().default('~').meta({ kind: 'path' }),
  home_page: z.url().optional(),
  filter: z.string().default('').meta({ kind: 'code' }),
});

const settings = toolSettings(everyKind);
const field = (key: string): SettingField => {
  const found = settings.fields.find((one) => one.key === key);
  assert.ok(found);
  return found;
};

test('X3 every kind of setting follows from a zod field and its .meta()', () => {
  assert.deepEqual(
    settings.fields.map(({ key, kind }) => [key, kind]),
    [
      ['name', 'string'],
      ['count', 'number'],
      ['ratio', 'number'],
      ['on', 'boolean'],
      ['language', 'select'],
      ['days', 'multiselect'],
      ['signature', 'text'],
      ['apiToken', 'secret'],
      ['folder', 'path'],
      ['home_page', 'url'],
      ['filter', 'code'],
    ],
  );
  assert.deepEqual(new Set(settings.fields.map(({ kind }) => kind)), new Set(settingKinds));
});

test('X3 an address, a path and code are looked at, and what is refused gets a sentence with what to write', () => {
  const { fields, check } = toolSettings(
    z.object({
      url: z.string().optional().meta({ kind: 'url' }),
      folder: z.string().optional().meta({ kind: 'path' }),
      code: z.string().optional().meta({ kind: 'code' }),
    }),
  );
  const cases: readonly (readonly [key: string, good: readonly string[], bad: readonly string[]])[] = [
    [
      'url',
      ['https://a.example/x?y#z', 'http://127.0.0.1:8080', 'postgres://db/x', ''],
      [
        'nope',
        'www.example.org',
        'https://',
        'https:// x',
        'https://a b',
        'javascript:alert(1)',
        '//a.example',
        '/x',
      ],
    ],
    ['folder', ['/data', '~/x y', './a', 'C:\\x', ''], ['a\nb', 'a\0b', ' /x', '\t']],
    ['code', ['a\n\tb', 'print(1)\r\n', ''], ['a\0b', 'a\u001bb']],
  ];
  for (const [key, good, bad] of cases) {
    const one = fields.find((each) => each.key === key);
    assert.ok(one !== undefined);
    for (const value of good) assert.deepEqual(check(key, value), { ok: true, value }, value);
    for (const value of bad)
      assert.deepEqual(check(key, value), { ok: false, problem: whatToEnter(one) }, value);
  }
});

test('T1 the schema that a model is shown holds no bounds of every whole number, only those that a tool sets', () => {
  const { inputSchema } = defineTool({
    name: 'count',
    description: 'd',
    input: z.object({ n: z.int(), m: z.int().min(1), k: z.array(z.object({ deep: z.int().max(5) })) }),
    traits: readOnly,
    run: async () => succeed('x'),
  });
  assert.doesNotMatch(JSON.stringify(inputSchema), /9007199254740991/);
  assert.match(JSON.stringify(inputSchema), /"minimum":1.*"maximum":5/);
});

test('X3 a number between two steps is refused; steps count from nothing or from the least value', () => {
  const { check } = toolSettings(
    z.object({
      pause: z.number().min(0).max(50).meta({ step: 0.1 }),
      count: z.int().min(1).max(20).meta({ step: 5 }),
    }),
  );
  for (const value of [0.3, 7.3, 0, 50]) assert.equal(check('pause', value).ok, true, `${value}`);
  assert.deepEqual(check('pause', 7.35), {
    ok: false,
    problem: 'write a number from 0 to 50 in steps of 0.1',
  });
  for (const value of [1, 5, 6, 20]) assert.equal(check('count', value).ok, true, `${value}`);
  assert.equal(check('count', 7).ok, false);
});

test('X3 title, description, default, bounds, step, unit, placeholder and options are told', () => {
  equalData(field('name'), {
    key: 'name',
    kind: 'string',
    title: 'Name of it',
    description: 'As shown.',
    default: 'home',
    required: false,
    min: 2,
    max: 40,
    options: [],
    secret: false,
  });
  const { min, max, step, unit, whole } = field('count');
  assert.deepEqual(
    { min, max, step, unit, whole },
    { min: 1, max: 20, step: 5, unit: 'results', whole: true },
  );
  assert.equal(field('home_page').title, 'Home page');
  assert.equal(field('apiToken').title, 'Api token');
  assert.equal(field('signature').placeholder, 'Kind regards');
  assert.deepEqual(field('language').options, [
    { value: 'en', label: 'English' },
    { value: 'de', label: 'de' },
  ]);
});

test('X3 a value is judged by itself, and what is wrong says what to write and never the value', () => {
  const wrong: readonly (readonly [string, unknown, string])[] = [
    ['count', 21, 'write a whole number from 1 to 20 in steps of 5'],
    ['count', 2.5, 'write a whole number from 1 to 20 in steps of 5'],
    ['on', 'yes', 'write true or false'],
    ['language', 'fr', 'write en or de'],
    ['days', ['mo', 'tu', 'we'], 'write a list of mo, tu or we, at most 2 of them'],
    ['name', 'x', 'write text from 2 to 40 characters'],
    ['apiToken', 'short', 'write text from 8 to 3000 characters'],
    ['home_page', 'nowhere', 'write an address, such as "https://example.org"'],
    ['folder', 'x'.repeat(3_001), 'write the path of a file or folder, on one line'],
    ['nothing', 1, 'there is no such setting'],
  ];
  for (const [key, value, problem] of wrong)
    assert.deepEqual(settings.check(key, value), { ok: false, problem }, key);
  for (const [key, value] of [
    ['count', 10],
    ['on', false],
    ['days', ['we']],
    ['apiToken', 'long enough'],
  ] as const)
    assert.deepEqual(settings.check(key, value), { ok: true, value }, key);
});

test("X3 an author's own words on a value are told, except of a secret", () => {
  const own = toolSettings(
    z.object({
      even: z.number().refine((n) => n % 2 === 0, 'write an even number'),
      pin: z
        .string()
        .refine((pin) => pin === '1234', { error: ({ input }) => `not ${String(input)}` })
        .meta({ secret: true }),
    }),
  );
  assert.deepEqual(own.check('even', 3), { ok: false, problem: 'write an even number' });
  assert.deepEqual(own.check('pin', 'hunter2'), {
    ok: false,
    problem: 'write text of at most 3000 characters',
  });
  const together = own.resolve({ even: 2, pin: 'hunter2' });
  assert.ok(!together.ok);
  assert.doesNotMatch(JSON.stringify(together), /hunter2/);
});

test('X3 all values are checked together, defaults filled in, foreign keys left out', () => {
  const range = toolSettings(
    z
      .object({
        from: z.int().default(1),
        to: z.int().default(9),
        at: z
          .string()
          .transform((at) => at.length)
          .default(0),
      })
      .refine(({ from, to }) => from <= to, 'from may not be above to'),
  );
  assert.deepEqual(range.resolve({ to: 3, at: 'four', other: true }), {
    ok: true,
    values: { from: 1, to: 3, at: 4 },
  });
  assert.deepEqual(range.resolve({ from: 10 }), {
    ok: false,
    problems: [{ problem: 'from may not be above to' }],
  });
});

test('X3 what nobody could be shown is refused when the tool is defined, with the fix', () => {
  const refused = (shape: z.ZodRawShape, why: RegExp): void =>
    assert.throws(() => toolSettings(z.object(shape)), why);
  refused({ nested: z.object({}) }, /the setting nested can't be shown: make it text, a number/);
  refused({ either: z.union([z.string(), z.number()]) }, /either can't be shown/);
  refused({ 'With Space': z.string() }, /write its name in letters, digits and _/);
  refused({ long: z.string().meta({ title: 'x'.repeat(61) }) }, /\.meta\(\) of the setting long/);
  refused({ many: z.enum(Array.from({ length: 101 }, (_, n) => `n${n}`)) }, /many can't be shown/);
});

test('X3 a tool runs with checked settings and defaults, and says what has to be set where it can not', async () => {
  const tool = defineTool({
    name: 'echo',
    description: 'Says what is set.',
    input: z.object({}),
    settings: z.object({ count: z.int().default(3), token: z.string().meta({ secret: true }) }),
    traits: readOnly,
    run: async (_, { settings: { count, token } }) => succeed(`${count + 1} ${token.length}`),
  });
  const run = (values: Readonly<Record<string, unknown>>) => tool.run({}, toolContext({ settings: values }));
  assert.equal((await run({ token: 'abc' })).data, '4 3');
  assert.match(
    JSON.stringify(await run({ count: 'many' })),
    /echo is not set up \(count: write a whole number; token: it has to be set\): an owner can do that in the settings of this chat or under \[tools\.echo\]/,
  );
});

test('X3 what to enter names a range of one side, too', () => {
  const one = toolSettings(
    z.object({ a: z.int().min(3), b: z.number().max(2), c: z.string().meta({ kind: 'code' }) }),
  );
  assert.deepEqual(
    one.fields.map((field) => whatToEnter(field)),
    [
      'write a whole number of at least 3',
      'write a number of at most 2',
      'write code as plain text, at most 3000 characters',
    ],
  );
});
