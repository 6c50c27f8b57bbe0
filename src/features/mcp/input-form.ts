import { z } from 'zod';
import type { SettingField, SettingValue } from '../../core/setting-field.ts';
import { readSetting } from '../../core/read-setting.ts';
import type { Say } from '../../core/texts/say.ts';
import { jsonSchemaCheck } from '../../lib/json/json-schema-check.ts';
import { defined } from '../../lib/json/json-values.ts';
import { oneLine } from '../../lib/text/text.ts';
import { strangerText } from './clean-schema.ts';

/** A form of plain fields that a server asks a person to fill in. Its texts are the server's, made safe. */
export type InputForm = Readonly<{
  message: string;
  fields: readonly SettingField[];
  /** The first field that is wrong or missing in what was filled in. */
  wrong(content: Readonly<Record<string, unknown>>): SettingField | undefined;
}>;

type ReadForm = Readonly<{ ok: true; form: InputForm } | { ok: false; problem: string }>;

const mostFields = 10;
const mostChoices = 30;
const textLimit = 1_000;
const titleLimit = 60;

/**
 * Words of what nobody should write into a chat, in names, texts and questions of a form. A form with one of them is
 * refused, because what a person types here is stored and sent to a stranger.
 */
const secretWords =
  /pass(?:word|wort|phrase|code|wd)|kennwort|mot de passe|contraseña|\bsenha\b|пароль|パスワード|暗証|密码|密碼|secret|credential|(?:api|private|access|secret|signing) ?key|\btokens?\b|\bbearer\b|\bpin\b|\botp\b|\b2fa\b|\bmfa\b|one[ -]?time|(?:security|recovery|verification|backup|auth\w*) ?code|seed phrase|\bcv[cv]2?\b|(?:card|account) ?number|\biban\b|\bssn\b|social security/iu;

const text = z.string().optional().catch(undefined);
const amount = z.number().optional().catch(undefined);
const choices = z.array(z.object({ const: z.string(), title: text })).max(mostChoices);
const values = z.array(z.string()).max(mostChoices);
const property = z.object({
  type: z.enum(['string', 'number', 'integer', 'boolean', 'array']),
  title: text,
  description: text,
  format: text,
  minLength: amount,
  maxLength: amount,
  minimum: amount,
  maximum: amount,
  minItems: amount,
  maxItems: amount,
  enum: values.optional(),
  enumNames: z.array(z.string()).optional().catch(undefined),
  oneOf: choices.optional(),
  items: z.object({ enum: values.optional(), anyOf: choices.optional() }).optional(),
  default: z.union([z.string(), z.number(), z.boolean(), values]).optional().catch(undefined),
});
type Property = z.output<typeof property>;
const elicitation = z.object({
  method: z.literal('elicitation/create'),
  params: z.object({
    mode: z.literal('form').default('form'),
    message: z.string(),
    requestedSchema: z.object({
      properties: z.record(z.string().min(1).max(64), property).default({}),
      required: z.array(z.string()).default([]),
    }),
  }),
});

/** Reads what a server asks for. Only forms of plain fields are shown to people, and never one for a secret (X9). */
export function readInputForm(request: unknown): ReadForm {
  const said = JSON.stringify(request) ?? '';
  const parsed = elicitation.safeParse(request);
  if (!parsed.success) {
    const mode: unknown = z.object({ params: z.object({ mode: z.unknown() }) }).safeParse(request).data
      ?.params.mode;
    return refused(
      mode === 'url'
        ? 'it wants to send the person to a page, which this host does not do'
        : 'it asks for something that is no form of plain fields',
    );
  }
  const { message, requestedSchema } = parsed.data.params;
  const entries = Object.entries(requestedSchema.properties);
  if (entries.length > mostFields) return refused(`it asks for more than ${mostFields} fields at once`);
  if (said.length > 20_000) return refused('its question is too long');
  if (isOfSecret(message, entries))
    return refused(
      'it asks for a secret, and nobody is asked for those in a chat. An operator can give it secrets in its env or headers',
    );
  const checks = entries.map(([key, one]) => {
    const required = requestedSchema.required.includes(key);
    const schema = { properties: { [key]: cleanProperty(one) }, required: required ? [key] : [] };
    return { field: fieldOf(key, one, required), check: jsonSchemaCheck(schema) };
  });
  const form: InputForm = {
    message: strangerText(message, textLimit),
    fields: checks.map(({ field }) => field),
    wrong: (content) =>
      checks.find(({ field, check }) => check(defined({ [field.key]: content[field.key] })) !== undefined)
        ?.field,
  };
  return { ok: true, form };
}

function refused(problem: string): ReadForm {
  return { ok: false, problem };
}

function isOfSecret(message: string, fields: readonly (readonly [string, Property])[]): boolean {
  const texts = fields.flatMap(([key, { title = '', description = '', format = '' }]) => [
    key.replace(/([a-z0-9])([A-Z])/g, '$1 $2').replace(/[^\p{L}\p{N}]+/gu, ' '),
    ...[title, description, format],
  ]);
  return [message, ...texts].some((each) => secretWords.test(each.normalize('NFKC')));
}

/** What is checked of a field. Patterns are left out, because a foreign one could run for ever. */
function cleanProperty(of: Property): object {
  const { type, minLength, maxLength, minimum, maximum, minItems, maxItems, items } = of;
  const several = defined<unknown>({ type: 'string', enum: items?.enum ?? constsOf(items?.anyOf) });
  return defined<unknown>({
    ...{ type, minLength, maxLength, minimum, maximum, minItems, maxItems },
    format: ['email', 'uri', 'date', 'date-time'].find((known) => known === of.format),
    enum: of.enum ?? constsOf(of.oneOf),
    items: type === 'array' ? several : undefined,
  });
}

function constsOf(listed: Property['oneOf']): readonly string[] | undefined {
  return listed?.map((one) => one.const);
}

function fieldOf(key: string, of: Property, required: boolean): SettingField {
  const named = of.enum?.map((value, at) => ({ value, label: of.enumNames?.[at] ?? value }));
  const titled = (of.oneOf ?? of.items?.anyOf)?.map(({ const: value, title }) => ({
    value,
    label: title ?? value,
  }));
  const options = named ?? titled ?? of.items?.enum?.map((value) => ({ value, label: value })) ?? [];
  const title = oneLine(strangerText(of.title ?? key, titleLimit), titleLimit);
  return {
    key,
    kind: kindOf(of, options.length > 0),
    title: title === '' ? key : title,
    description: of.description === undefined ? undefined : oneLine(strangerText(of.description, 300), 300),
    default: of.default,
    required,
    min: of.minLength ?? of.minimum ?? of.minItems,
    max: of.maxLength ?? of.maximum ?? of.maxItems,
    whole: of.type === 'integer' || undefined,
    options: options.map(({ value, label }) => ({ value, label: oneLine(strangerText(label, 60), 60) })),
    secret: false,
  };
}

function kindOf({ type, format }: Property, isChoice: boolean): SettingField['kind'] {
  if (type === 'boolean') return 'boolean';
  if (type === 'array') return 'multiselect';
  if (type !== 'string') return 'number';
  return isChoice ? 'select' : format === 'uri' ? 'url' : 'string';
}

type Filled = Readonly<
  { ok: true; content: Readonly<Record<string, unknown>> } | { ok: false; field: SettingField | undefined }
>;

/**
 * Reads what a person wrote as a filled form: the value of the only field, or a line `name: value` for each. Fields
 * without a line get their defaults. `field` is the one that is wrong or missing.
 */
export function fillForm({ fields, wrong }: InputForm, written: string, say: Say): Filled {
  const given = new Map<string, SettingValue>();
  const [only, ...more] = fields;
  if (only !== undefined && more.length === 0) {
    const [, named, value = ''] = /^([^:=]+)[:=]([^]*)$/.exec(written) ?? [];
    const isNamed = named !== undefined && findField(fields, named) === only;
    given.set(only.key, readSetting(only, isNamed ? value : written, say));
  } else
    for (const line of written.split('\n').filter((each) => each.trim() !== '')) {
      const [, named = '', value = ''] = /^([^:=]+)[:=](.*)$/.exec(line) ?? [];
      const field = findField(fields, named);
      if (field === undefined) return { ok: false, field: undefined };
      given.set(field.key, readSetting(field, value, say));
    }
  const content = Object.fromEntries(
    fields.flatMap(({ key, default: preset }) => {
      const value = given.get(key) ?? preset;
      return value === undefined || value === '' ? [] : [[key, value]];
    }),
  );
  const field = wrong(content);
  return field === undefined ? { ok: true, content } : { ok: false, field };
}

function findField(fields: readonly SettingField[], named: string): SettingField | undefined {
  const word = named.replaceAll('`', '').trim().toLowerCase();
  return fields.find(({ key, title }) => [key.toLowerCase(), title.toLowerCase()].includes(word));
}
