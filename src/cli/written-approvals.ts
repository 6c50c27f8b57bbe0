import { existsSync } from 'node:fs';
import { askControl, controlPath } from '../channels/terminal/control.ts';
import { writtenRoot } from '../skills/open-library.ts';
import type { Config } from '../config/complete-config.ts';
import { readApprovals, type IsApproved, type WrittenSkill } from '../skills/written-skills.ts';
import { askBot } from './ask-bot.ts';

/** What was approved of the skills that the bot wrote, asked of the running bot, else of the store. Where neither can tell nothing of theirs counts as approved, and a line on standard error says so (D9). */
export async function writtenApprovals(config: Config, flag: string | undefined): Promise<IsApproved> {
  const records = await readWrittenSkills(config, flag).catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    console.error(
      `What was approved of the bot's own skills can't be read, so they are shown as off: ${why}`,
    );
    return [];
  });
  return readApprovals(
    { all: async () => new Map(records.map((one) => [one.name, one])) },
    writtenRoot(config),
  );
}

/** The records of skills that the bot wrote; makes no store where there is none. */
export async function readWrittenSkills(
  config: Config,
  flag: string | undefined,
): Promise<readonly WrittenSkill[]> {
  const file = /^sqlite:(.+)$/.exec(config.store.url)?.[1];
  // Looking at skills makes no store.
  if (file !== undefined && !existsSync(file)) {
    const asked = await askControl(controlPath(config.bot.dataDir), 'skill written');
    return (asked?.data ?? []) as readonly WrittenSkill[];
  }
  return askBot(flag, 'skill written');
}
