import { z } from 'zod';
import { fixed, sayIn, type Say } from './texts/say.ts';
import { settingField, type SettingField, type SettingValue } from './setting-field.ts';

/** Values of settings from the config or a chat, not checked yet. */
export type SettingValues = Readonly<Record<string, unknown>>;

type CheckedSetting = Readonly<{ ok: true; value: SettingValue }> | Readonly<{ ok: false; problem: string }>;

/** Why a value is refused. `key` is undefined if all values together are the problem. It never contains a value. */
export type SettingProblem = Readonly<{ key?: string; problem: string }>;

/** What people can set for a tool in a chat (X3). */
export type ToolSettings = Readonly<{
  fields: readonly SettingField[];
  check(key: string, value: unknown): CheckedSetting;
  /** Checks all values together, fills in defaults and drops unknown keys. */
  resolve(
    values: SettingValues,
  ): Readonly<{ ok: true; values: SettingValues } | { ok: false; problems: readonly SettingProblem[] }>;
}>;

/**
 * Makes settings of a zod object with a field for each, described by `.meta({…})` (`SettingMeta`). Throws an error that
 * names the field if people can't enter one.
 */
export function toolSettings(schema: z.ZodObject): ToolSettings {
  const { properties = {}, required = [] } = jsonSchema.parse(
    z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', reused: 'inline' }),
  );
  const fields = Object.entries(properties).map(([key, one]) =>
    settingField(key, one, required.includes(key)),
  );
  const known = new Map(fields.map((field) => [field.key, field]));
  const shape: z.core.$ZodShape = schema.shape;
  const hasSecrets = fields.some(({ secret }) => secret);

  const problemOf = (field: SettingField, issues: readonly z.core.$ZodIssue[]): string => {
    const own = issues.find(({ code }) => code === 'custom')?.message;
    return field.secret || own === undefined ? whatToEnter(field) : own;
  };

  return Object.freeze({
    fields,
    check(key: string, value: unknown): CheckedSetting {
      const field = known.get(key);
      const checks = shape[key];
      if (field === undefined || checks === undefined)
        return { ok: false, problem: fixed`there is no such setting` };
      const issues = issuesOf(checks, value);
      const plain = settingValue.safeParse(value);
      if (issues !== undefined) return { ok: false, problem: problemOf(field, issues) };
      if (!plain.success || !fitsField(field, plain.data)) return { ok: false, problem: whatToEnter(field) };
      return { ok: true, value: plain.data };
    },
    resolve(values: SettingValues) {
      const own = Object.fromEntries(Object.entries(values).filter(([key]) => known.has(key)));
      const read = schema.safeParse(own);
      if (read.success) return { ok: true as const, values: read.data };
      const problems = read.error.issues.map(({ path, message }): SettingProblem => {
        const field = known.get(String(path[0]));
        if (field === undefined)
          return { problem: hasSecrets ? fixed`these values can’t be combined` : message };
        const missing = own[field.key] === undefined;
        const issues = read.error.issues.filter((issue) => String(issue.path[0]) === field.key);
        const problem = missing ? fixed`it has to be set` : problemOf(field, issues);
        return { key: field.key, problem };
      });
      return { ok: false as const, problems };
    },
  });
}

function issuesOf(schema: z.core.$ZodType, value: unknown): readonly z.core.$ZodIssue[] | undefined {
  try {
    return z.safeParse(schema, value).error?.issues;
  } catch {
    // A check that throws refuses the value.
    return [];
  }
}

const jsonSchema = z.looseObject({
  properties: z.record(z.string(), z.unknown()).optional(),
  required: z.array(z.string()).optional(),
});
const settingValue = z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]);

function fitsField(field: SettingField, value: SettingValue): boolean {
  const { min = 0, max, step, default: preset } = field;
  if (typeof value === 'string') return (max === undefined || value.length <= max) && fitsKind(field, value);
  if (typeof value !== 'number' || step === undefined || value === max) return true;
  // Steps may be counted from the default, because buttons do so.
  return [0, min, typeof preset === 'number' ? preset : 0].some((from) => {
    const steps = (value - from) / step;
    // 0.3 is three steps of 0.1, although not exactly in floating point.
    return Math.abs(steps - Math.round(steps)) < 1e-9 * Math.max(1, Math.abs(steps));
  });
}

/** Whether a text fits its kind, beyond the schema. An empty text means a setting that is not used. */
function fitsKind({ kind }: SettingField, value: string): boolean {
  if (value === '') return true;
  if (kind === 'url') return isAddress(value);
  // eslint-disable-next-line no-control-regex
  if (kind === 'path') return !/[\u0000-\u001f\u007f]/.test(value) && value.trim() === value;
  // eslint-disable-next-line no-control-regex
  return kind !== 'code' || !/[\u0000-\u0008\u000e-\u001f]/.test(value);
}

function isAddress(value: string): boolean {
  const url = URL.parse(value);
  return url !== null && /^[a-z][a-z0-9+.-]*:\/\/[^\s/]/i.test(value) && url.host !== '' && !/\s/.test(value);
}

/** Tells people what they can enter, such as `write a whole number from 1 to 20`. */
export function whatToEnter(field: SettingField, say = sayIn(undefined)): string {
  const { kind, whole, min, max, step, options } = field;
  const values = say.either(options.map(({ value }) => value));
  switch (kind) {
    case 'boolean':
      return say`write true or false`;
    case 'number': {
      const number = whole === true ? say`write a whole number` : say`write a number`;
      const steps = step === undefined || step === 1 ? '' : say`in steps of ${step}`;
      return [number, rangeOf(min, max, say), steps].filter((part) => part !== '').join(' ');
    }
    case 'select':
      return say`write ${values}`;
    case 'multiselect': {
      const least = min === 0 ? undefined : min;
      const count = countOf(least, max === undefined || max >= options.length ? undefined : max, say);
      return count === '' ? say`write a list of ${values}` : say`write a list of ${values}, ${count}`;
    }
    case 'url':
      return say`write an address, such as "https://example.org"`;
    case 'path':
      return say`write the path of a file or folder, on one line`;
    case 'code':
      return max === undefined
        ? say`write code as plain text`
        : say`write code as plain text, at most ${max} characters`;
    case 'string':
    case 'text':
    case 'secret':
      return textOf(min === 0 ? undefined : min, max, say);
  }
}

function rangeOf(min: number | undefined, max: number | undefined, say: Say): string {
  if (min !== undefined && max !== undefined) return say`from ${min} to ${max}`;
  if (min !== undefined) return say`of at least ${min}`;
  return max === undefined ? '' : say`of at most ${max}`;
}

function countOf(min: number | undefined, max: number | undefined, say: Say): string {
  if (min !== undefined && max !== undefined) return say`at least ${min} and at most ${max} of them`;
  if (min !== undefined) return say`at least ${min} of them`;
  return max === undefined ? '' : say`at most ${max} of them`;
}

function textOf(min: number | undefined, max: number | undefined, say: Say): string {
  if (min !== undefined && max !== undefined) return say`write text from ${min} to ${max} characters`;
  if (min !== undefined) return say`write text of at least ${min} characters`;
  return max === undefined ? say`write text` : say`write text of at most ${max} characters`;
}
