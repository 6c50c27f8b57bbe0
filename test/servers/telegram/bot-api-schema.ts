import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

type Field = Readonly<{ name: string; types: readonly string[]; required: boolean }>;
type Specification = Readonly<{
  methods: Readonly<Record<string, Readonly<{ returns: readonly string[]; fields?: readonly Field[] }>>>;
  types: Readonly<Record<string, Readonly<{ subtypes?: readonly string[]; fields?: readonly Field[] }>>>;
}>;

const corpora = process.env['SKILLET_CORPORA'] ?? join(import.meta.dirname, '../../../../shared/corpora');
const file = join(corpora, 'telegram-bot-api-10.1.json');

/** Why tests against the published Bot API can't run here, or false. */
export const schemaMissing = existsSync(file) ? false : `no corpus at ${file}`;

/** The published Bot API, as checks: each gives what is wrong, one line a problem. */
export type BotApiSchema = Readonly<{
  request(method: string, args: Readonly<Record<string, unknown>>): readonly string[];
  /** What a call of the method answers with. */
  result(method: string, result: unknown): readonly string[];
  value(type: string, value: unknown): readonly string[];
}>;

export function readBotApiSchema(): BotApiSchema {
  const { methods, types } = JSON.parse(readFileSync(file, 'utf8')) as Specification;

  function check(wanted: readonly string[], value: unknown, path: string): readonly string[] {
    const verdicts = wanted.map((type) => checkOne(type, value, path));
    return verdicts.some((problems) => problems.length === 0)
      ? []
      : (verdicts.sort((a, b) => a.length - b.length)[0] ?? []);
  }

  function checkOne(type: string, value: unknown, path: string): readonly string[] {
    if (type.startsWith('Array of ')) {
      if (!Array.isArray(value)) return [`${path} is no array`];
      return value.flatMap((item, index) => check([type.slice(9)], item, `${path}[${index}]`));
    }
    const plain = { Integer: Number.isSafeInteger(value), Float: typeof value === 'number' }[type];
    if (plain !== undefined) return plain ? [] : [`${path} is no ${type}`];
    if (type === 'String') return typeof value === 'string' ? [] : [`${path} is no String`];
    if (type === 'Boolean' || type === 'True')
      return typeof value === 'boolean' ? [] : [`${path} is no Boolean`];
    const known = types[type];
    if (known === undefined) return [`${path} has the unknown type ${type}`];
    if (known.subtypes !== undefined) return check(known.subtypes, value, path);
    return checkFields(known.fields ?? [], value, path);
  }

  function checkFields(fields: readonly Field[], value: unknown, path: string): readonly string[] {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return [`${path} is no object`];
    const given = Object.entries(value).filter(([, one]) => one !== undefined);
    const missing = fields
      .filter(({ name, required }) => required && !given.some(([key]) => key === name))
      .map(({ name }) => `${path}.${name} is missing`);
    const wrong = given.flatMap(([key, one]) => {
      const field = fields.find(({ name }) => name === key);
      return field === undefined ? [`${path}.${key} is unknown`] : check(field.types, one, `${path}.${key}`);
    });
    return [...missing, ...wrong];
  }

  const methodOf = (name: string) => {
    const found = Object.entries(methods).find(([key]) => key.toLowerCase() === name.toLowerCase());
    if (found === undefined) throw new Error(`the Bot API has no method ${name}`);
    return found[1];
  };

  return {
    request: (method, args) => checkFields(methodOf(method).fields ?? [], args, method),
    result: (method, result) => check(methodOf(method).returns, result, method),
    value: (type, value) => checkOne(type, value, type),
  };
}
