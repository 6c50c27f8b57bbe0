import { decideSkill, type AccessContext } from '../../access/decide-skill.ts';
import type { Users } from '../../access/users.ts';
import type { RuntimeConfig } from '../../config/runtime-config.ts';
import type { WriteCommand } from '../../core/channel.ts';
import { sayIn } from '../../core/texts/say.ts';
import { inlineCode } from '../../lib/text/text.ts';
import type { Registry } from '../../skills/registry.ts';
import type { Store } from '../../store/store.ts';
import type { TellAsker } from './approve-skill.ts';

/** Says in the asker's chat that a skill is enabled, if they and everybody who reads there may use it (D9, A11). */
export function createTellAsker({
  store,
  runtime,
  registry,
  users,
  accessOf,
  writeCommand,
}: {
  store: Store;
  runtime: () => RuntimeConfig;
  registry(): Promise<Registry>;
  users: Users;
  accessOf: AccessContext;
  writeCommand: WriteCommand;
}): TellAsker {
  return async ({ name, at, asker }, by) => {
    const { conversation, chatType, sender } = asker;
    const isPrivate = chatType === 'private';
    // The question itself shows them the outcome.
    if (isPrivate && sender.id === by) return;
    const skill = (await registry()).get(name);
    if (skill === undefined || !(await users.mayAct(asker)).allowed) return;
    const use = await accessOf(asker);
    const readers = isPrivate ? [sender.id] : [sender.id, ''];
    const { rules } = runtime();
    if (!readers.every((reader) => decideSkill(skill, rules, { ...use, sender: reader }).allowed)) return;
    const command = writeCommand(conversation, name, skill.argumentHint);
    const markdown = sayIn(sender.language)`${inlineCode(name)} is enabled. To use it, write ${command}.`;
    await store.commit({
      outbox: [{ key: `skill-enabled:${name}:${at}`, conversation, part: { markdown } }],
    });
  };
}
