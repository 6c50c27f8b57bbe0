import path from 'node:path';
import type { Button } from '../core/channel.ts';
import type { Requester } from '../core/tool.ts';
import { hashSkill } from '../skills/install/hash-skill.ts';
import type { WrittenSkill } from '../skills/written-skills.ts';
import { versionOf } from './approve-skill.ts';
import { describeWrittenSkill } from './describe-written-skill.ts';
import type { Voice } from '../replies/replies.ts';
import type { Store } from '../store/store.ts';

/** Asks whoever may enable a skill that the bot wrote (D9). */
export type AskAboutSkill = (record: WrittenSkill, requester: Requester) => Promise<void>;

/**
 * Shows the skill whole, with buttons: right there where the requester may enable it and it is a direct message, else to
 * every owner and approver in theirs. Asking again about the same version asks once.
 */
export function createAskAboutSkill(options: {
  root: string;
  store: Pick<Store, 'commit'>;
  voice: Voice;
  mayApprove(sender: string): Promise<boolean>;
  approvers(): readonly string[];
  /** Names of the variables that the operator wrote for a skill. */
  given(name: string): readonly string[];
}): AskAboutSkill {
  const { root, store, voice, mayApprove, approvers, given } = options;

  return async ({ name, at, approved }, requester) => {
    const directory = path.join(root, name);
    const hash = hashSkill(directory);
    if (hash === undefined) return;
    const markdown = describeWrittenSkill({
      name,
      directory,
      hash,
      sender: requester.sender,
      given: given(name),
      isNew: approved === undefined,
    });
    const key = `skill:${name}:${at}`;
    const more = { buttons: buttonsFor(hash.hash) };
    const { chatType, sender, conversation } = requester;
    if (chatType === 'private' && (await mayApprove(sender))) {
      await store.commit({ outbox: voice.rows(conversation, key, markdown, more) });
    } else await voice.tellOwners(key, markdown, { ...more, alsoTo: approvers() });
  };
}

function buttonsFor(hash: string): readonly Button[] {
  return [
    { label: 'Enable', action: `skill:enable:${versionOf(hash)}` },
    { label: 'Discard', action: `skill:discard:${versionOf(hash)}` },
  ];
}
