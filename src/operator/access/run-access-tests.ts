import type { AccessTest } from '../../config/access-tests.ts';
import type { Config } from '../../config/complete-config.ts';
import type { Skill } from '../../core/skill.ts';
import type { Log } from '../../lib/log.ts';
import { nobodyKnown, openGates } from './explain-access.ts';
import type { Ruling } from './ruling.ts';

export type TestedAccess = Readonly<{
  /** `telegram:42 in telegram:-100 uses dice` */
  what: string;
  expected: string;
  ruling: Ruling;
  passed: boolean;
}>;

/** Holds the config against expectations (L14). Nobody is paired unless a test says so: the result is the same on every machine. */
export async function runAccessTests(
  config: Config,
  { tests, skills, log }: Readonly<{ tests: readonly AccessTest[]; skills: readonly Skill[]; log: Log }>,
): Promise<readonly TestedAccess[]> {
  const results: TestedAccess[] = [];
  for (const test of tests) {
    const gates = await openGates(config, { skills, people: nobodyKnown, log });
    try {
      const { who, where, chat_type: chatType, external, skill } = test;
      if (test.paired === true) await gates.pair(who);
      const {
        talk,
        skills: [of],
      } = await gates.explain({ who, where, chatType, external, skill });
      // Who may not talk uses no skill.
      const ruling = skill === undefined || !talk.allowed || of === undefined ? talk : of.ruling;
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
