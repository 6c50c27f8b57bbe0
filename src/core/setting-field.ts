import { z } from 'zod';

/** The kinds of field in which people enter a setting (X3). */
export const settingKinds = [
  'string',
  'number',
  'boolean',
  'select',
  'multiselect',
  'text',
  'secret',
  'path',
  'url',
  'code',
] as const;
type SettingKind = (typeof settingKinds)[number];

export type SettingValue = string | number | boolean | readonly string[];

export type SettingField = Readonly<{
  key: string;
  kind: SettingKind;
  title: string;
  description?: string;
  /**
   * Never set for a secret. A `required` setting without a default keeps the tool from running until somebody sets it.
   */
  default?: SettingValue;
  required: boolean;
  /** Smallest number, fewest characters of a text, or fewest choices of a multiselect. `max` is likewise. */
  min?: number;
  max?: number;
  step?: number;
  /** True if a number may have no fraction. */
  whole?: boolean;
  options: readonly Readonly<{ value: string; label: string }>[];
  unit?: string;
  placeholder?: string;
  secret: boolean;
}>;

const settingMeta = z.object({
  title: z.string().min(1).max(60).optional(),
  description: z.string().max(300).optional(),
  kind: z.enum(settingKinds).optional(),
  step: z.number().positive().optional(),
  options: z.record(z.string(), z.string().min(1).max(60)).optional(),
  unit: z.string().max(20).optional(),
  placeholder: z.string().max(100).optional(),
  secret: z.boolean().optional(),
});
type SettingMeta = z.output<typeof settingMeta>;

/** The most characters that the forms of all platforms accept. */
const longestText = 3_000;

const choices = z.array(z.string().min(1).max(75)).min(1).max(100);
const described = z.discriminatedUnion('type', [
  z.looseObject({
    type: z.literal('string'),
    enum: choices.optional(),
    format: z.string().optional(),
    minLength: z.number().optional(),
    maxLength: z.number().optional(),
  }),
  z.looseObject({
    type: z.enum(['number', 'integer']),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
  }),
  z.looseObject({ type: z.literal('boolean') }),
  z.looseObject({
    type: z.literal('array'),
    items: z.looseObject({ type: z.literal('string'), enum: choices }),
    minItems: z.number().optional(),
    maxItems: z.number().optional(),
  }),
]);
type Described = z.output<typeof described>;

/** Describes one setting by its JSON Schema. Throws an error that names the fix if people can't enter it. */
export function settingField(key: string, schema: unknown, required: boolean): SettingField {
  const read = described.safeParse(schema);
  const meta = settingMeta.safeParse(schema);
  if (!/^[a-z][a-zA-Z0-9_]{0,39}$/.test(key))
    throw new Error(`the setting ${key} can't be shown: write its name in letters, digits and _`);
  if (!read.success)
    throw new Error(
      `the setting ${key} can't be shown: make it text, a number, a boolean or a list of choices`,
    );
  if (!meta.success) throw new Error(`.meta() of the setting ${key}: ${z.prettifyError(meta.error)}`);
  const { title = titleOf(key), description, unit, placeholder } = meta.data;
  const kind = kindOf(read.data, meta.data);
  const secret = kind === 'secret' || meta.data.secret === true;
  const preset = z.looseObject({ default: z.json().optional() }).parse(schema).default as
    SettingValue | undefined;
  return Object.freeze({
    key,
    kind,
    title,
    description,
    default: preset === undefined || secret ? undefined : preset,
    required,
    ...boundsOf(read.data, meta.data),
    options: optionsOf(read.data, meta.data),
    unit,
    placeholder,
    secret,
  });
}

function kindOf(schema: Described, { kind, secret }: SettingMeta): SettingKind {
  if (schema.type === 'boolean') return 'boolean';
  if (schema.type === 'array') return 'multiselect';
  if (schema.type !== 'string') return 'number';
  if (schema.enum !== undefined) return 'select';
  if (kind !== undefined && textKinds.includes(kind)) return kind;
  if (secret === true) return 'secret';
  return schema.format === 'uri' ? 'url' : 'string';
}

const textKinds: readonly SettingKind[] = ['string', 'text', 'secret', 'path', 'url', 'code'];

function boundsOf(schema: Described, { step }: SettingMeta): Partial<SettingField> {
  if (schema.type === 'boolean') return {};
  if (schema.type === 'string')
    return schema.enum === undefined
      ? { min: schema.minLength ?? 0, max: Math.min(schema.maxLength ?? longestText, longestText) }
      : {};
  if (schema.type === 'array')
    return { min: schema.minItems ?? 0, max: schema.maxItems ?? schema.items.enum.length };
  const { minimum, maximum, type } = schema;
  const whole = type === 'integer';
  return {
    min: minimum === undefined || minimum <= Number.MIN_SAFE_INTEGER ? undefined : minimum,
    max: maximum === undefined || maximum >= Number.MAX_SAFE_INTEGER ? undefined : maximum,
    step: step === undefined && !whole ? undefined : (step ?? 1),
    whole: whole || undefined,
  };
}

function optionsOf(schema: Described, { options = {} }: SettingMeta): SettingField['options'] {
  const values = schema.type === 'string' ? schema.enum : schema.type === 'array' ? schema.items.enum : [];
  return (values ?? []).map((value) => ({ value, label: options[value] ?? value }));
}

/** Makes a title of a key: `safe_search` becomes `Safe search`. */
function titleOf(key: string): string {
  const words = key
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
