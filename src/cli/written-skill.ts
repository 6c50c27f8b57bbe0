import { askBot } from './ask-bot.ts';
import type { ReadOptions } from './options.ts';
import { print, printJson } from './print.ts';

/** `skill enable NAME` and `skill discard NAME`: the operator's word on a skill that the bot wrote, as its files are now (D9). */
export async function decideWrittenSkill(
  verdict: 'enable' | 'discard',
  name: string,
  { config, json }: ReadOptions,
): Promise<void> {
  const decided = await askBot(config, `skill ${verdict}`, name);
  if (json === true) return printJson(decided);
  const said = {
    enabled: `${name} is enabled as its files are now (${decided.hash?.slice(0, 16)}). Any change of them switches it off again.`,
    discarded: `${name} is removed.`,
    restored: `The change of ${name} is removed; the version enabled before is back in use.`,
    unknown: '',
    changed: '',
  };
  print(said[decided.outcome]);
}
