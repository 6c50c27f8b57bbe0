import { z } from 'zod';
import { fixed } from '../core/texts/say.ts';

/** What people can set of `web_search` (X3), in the file and for each chat. */
export const webSearchSettings = z.object({
  results: z
    .int()
    .min(1)
    .max(20)
    .default(10)
    .meta({ title: fixed`Results`, description: fixed`How many results a search gives at most.`, step: 5 }),
  language: z
    .string()
    .regex(/^[a-z]{2,3}$/, 'write a language in two or three small letters, such as "en"')
    .optional()
    .meta({
      title: fixed`Language`,
      description: fixed`The language results are written in.`,
      placeholder: 'en',
    }),
  country: z
    .string()
    .regex(/^[A-Z]{2}$/, 'write a country in two capitals, such as "CH"')
    .optional()
    .meta({ title: fixed`Country`, description: fixed`The country results come from.`, placeholder: 'CH' }),
  safesearch: z
    .enum(['off', 'moderate', 'strict'])
    .default('moderate')
    .meta({
      title: fixed`Safe search`,
      description: fixed`How much of what is not for everybody is left out.`,
      options: { off: fixed`Off`, moderate: fixed`Moderate`, strict: fixed`Strict` },
    }),
});
export type WebSearchSettings = z.output<typeof webSearchSettings>;

/** Characters of a page that a model gets at most: together with its label less than callTool lets through (M3). */
const longestPage = 26_000;

/** What people can set of `web_fetch` (X3). */
export const webFetchSettings = z.object({
  characters: z
    .int()
    .min(1_000)
    .max(longestPage)
    .default(longestPage)
    .meta({
      title: fixed`Longest page`,
      description: fixed`How much of a page is read. Less costs less.`,
      unit: fixed`characters`,
      step: 5_000,
    }),
});

/** The same keys as the file has them: none has to be there, and what is left out stays left out. */
export function keysOf(settings: z.ZodObject): Record<string, z.ZodType> {
  const shape: Record<string, z.ZodType> = { ...settings.shape };
  return Object.fromEntries(Object.entries(shape).map(([key, field]) => [key, withoutDefault(field)]));
}

function withoutDefault(field: z.ZodType): z.ZodType {
  const inner = field instanceof z.ZodDefault ? (field.unwrap() as z.ZodType) : field;
  return z.optional(inner);
}
