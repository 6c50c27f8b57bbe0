/** `npm run texts`: lists the sentences that a language lacks. They are said in English until somebody translates them. */
import { readFileSync } from 'node:fs';
import { languages } from '../src/core/texts/say.ts';
import { saidInSource } from './said-in-source.ts';

for (const language of languages) {
  const file = new URL(`../src/core/texts/${language}.json`, import.meta.url);
  const catalogue = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>;
  const missing = [...saidInSource()].filter((sentence) => !Object.hasOwn(catalogue, sentence)).sort();
  process.stdout.write(`${language}: ${missing.length === 0 ? 'complete' : `lacks ${missing.length}`}\n`);
  for (const sentence of missing) process.stdout.write(`  ${JSON.stringify(sentence)}\n`);
}
