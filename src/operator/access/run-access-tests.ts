import type { AccessTest } from '../../config/access-tests.ts';
import type { Config } from '../../config/complete-config.ts';
import { skillNamed } from '../../core/skill.ts';
import { OperatorError } from '../../core/errors.ts';
import type { Log } from '../../lib/log.ts';
import type { Registry } from '../../skills/registry.ts';
import type { Ruling } from '../../access/ruling.ts';
import { openGates } from './open-gates.ts';
import { toWriter } from './question.ts';
import { skilletHere } from '../../core/skillet-here.ts';

export type TestedAccess = Readonly<{
  /** What was tested, such as `telegram:42 in telegram:-100 uses dice`. */
  what: string;
  expected: string;
  ruling: Ruling;
  passed: boolean;
}>;

/**
 * Compares the config with expectations (L14). Nobody is paired unless a test says so, so the result is the same on
 * every machine.
 */
export async function runAccessTests(
  config: Config,
  { tests, registry, log }: Readonly<{ tests: readonly AccessTest[]; registry: Registry; log: Log }>,
): Promise<readonly TestedAccess[]> {
  const results: TestedAccess[] = [];
  for (const test of tests) {
    const gates = await openGates(config, { registry, log });
    try {
      const { who, where, chat_type: chatType, external, skill } = test;
      if (test.paired === true) await gates.pair(who);
      const { message: talk, skills } = await gates.decide(toWriter({ who, where, chatType, external }));
      const of = skill === undefined ? undefined : skillNamed(skills, skill);
      if (skill !== undefined && of === undefined)
        throw new OperatorError(`There is no skill ${skill}: see \`${skilletHere()} skill list\`.`);
      // A person who may not talk to the bot can use no skill.
      const ruling = skill === undefined || !talk.allowed || of === undefined ? talk : of.byPerson;
      const wanted = test.expect === 'allow';
      const passed = ruling.allowed === wanted && (test.code === undefined || test.code === ruling.code);
      const doing = skill === undefined ? 'talks' : `uses ${skill}`;
      const what = `${who}${where === undefined ? '' : ` in ${where}`} ${doing}`;
      results.push({ what, expected: [test.expect, test.code ?? ''].join(' ').trim(), ruling, passed });
    } finally {
      await gates.close();
    }
  }
  return results;
}
