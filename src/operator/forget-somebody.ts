import { createHash } from 'node:crypto';
import { createHolds, type Holds } from '../access/holds.ts';
import { listsId } from '../access/chat-migrations.ts';
import type { AtRest } from '../core/feature.ts';
import type { AccessSettings } from '../core/access-settings.ts';
import { conversationKey, type Conversation } from '../core/conversation.ts';
import { skilletHere } from '../core/skillet-here.ts';
import { isUnattended } from '../core/message.ts';
import type { Clock } from '../lib/clock.ts';
import { OperatorError } from '../core/errors.ts';
import type { Log } from '../lib/log.ts';
import type { Forgotten, Store } from '../store/store.ts';
import type { Audit } from '../audit/create-audit.ts';
import type { ChatSettings } from '../tools/settings/chat-settings.ts';
import { cancelWork } from '../runs/tasks.ts';
import type { KeptFiles } from '../runs/kept-files.ts';
import type { Meeting } from '../audit/meetings.ts';
import type { Pairing } from '../access/pairing.ts';
import type { Users } from '../access/users.ts';

type ForgottenPerson = Readonly<{
  forgotten: string;
  /** True if the person was paired, had asked to be, or was an owner by claim. */
  known: boolean;
  /** How many rows were removed; `files` are folders and outgoing files. */
  removed: Readonly<Omit<Forgotten, 'places' | 'files'> & { files: number }> &
    Readonly<Record<string, number>>;
  /** True if the config still lets the person talk. */
  inConfig: boolean;
}>;

/** Deletes everything that is stored about a person, for `skillet forget` (Q12). */
export type ForgetSomebody = (sender: string) => Promise<ForgottenPerson>;

const lookEveryMs = 50;

/** `waitMs` is how long to wait for running work to stop; 0 if no bot runs. */
export function createForgetSomebody(options: {
  store: Store;
  kept: Readonly<{
    users: Users;
    pairing: Pairing;
    partners: Readonly<{ forget(sender: string): Promise<void> }>;
    features: readonly AtRest[];
    settings: ChatSettings;
    files: KeptFiles;
  }>;
  access(): AccessSettings;
  audit: Audit;
  waitMs: number;
  clock: Clock;
  log: Log;
}): ForgetSomebody {
  const { store, access, audit, waitMs, clock, log } = options;
  const holds = createHolds({ store, audit, clock });
  const { users, pairing, partners, features, settings, files } = options.kept;

  async function stopWork(sender: string): Promise<void> {
    await cancelWork(store, { items: await waitingOf(sender, store) });
    const until = clock.now() + waitMs;
    while (waitMs > 0 && (await waitingOf(sender, store)).length > 0) {
      if (clock.now() >= until) {
        throw new OperatorError(
          `A message of ${sender} is still being answered and does not stop. Nothing stored was removed yet: try again in a moment. ` +
            'If no bot runs on this store any more, start one first: it ends what was cut off.',
        );
      }
      await clock.sleep(lookEveryMs);
    }
  }

  return async (sender) => {
    await refuseHeld(sender, await directMessagesOf(sender, { store, pairing, audit }), { store, holds });
    // From here on, nothing new is accepted.
    const paired = await users.forget(sender);
    // This has to come before the rows that know of them are removed.
    const rooms = await directMessagesOf(sender, { store, pairing, audit });
    const asked = await pairing.forget(sender);
    await partners.forget(sender);
    await stopWork(sender);
    // This comes before the rows, because the store then clears deleted values from the disk.
    await audit.forget([sender, ...rooms]);
    await settings.forget(sender, rooms);
    const counts: Record<string, number> = { accounts: 0 };
    for (const feature of features) Object.assign(counts, await feature.forget?.(sender));
    const { places, files: onTheWay, ...rows } = await store.forget(sender, rooms);
    await audit.forget(places);
    await settings.forget(sender, places);
    const removed = { ...rows, ...counts, files: await files.forget({ sender, places, files: onTheWay }) };
    const subject = createHash('sha256').update(sender).digest('hex');
    await audit.record({ event: 'forgotten', subject, counts: removed });
    log.info({ subject, ...removed }, 'a person was forgotten');
    return { forgotten: sender, known: paired || asked, removed, inConfig: isNamed(access(), sender) };
  };
}

/** Throws OperatorError if something of the person is under a legal hold, and notes that it waits (L18). */
async function refuseHeld(
  sender: string,
  rooms: readonly string[],
  { store, holds }: Readonly<{ store: Store; holds: Holds }>,
): Promise<void> {
  if ((await holds.list()).length === 0) return;
  const held = await holds.over([sender, ...rooms, ...(await store.placesNaming(sender))]);
  if (held.length === 0) return;
  await holds.wait(sender, held);
  const on = held.map(({ id }) => id).join(', ');
  throw new OperatorError(
    `Nothing of ${sender} was removed: a legal hold keeps it (${on}). The wish is noted, and \`${skilletHere()} hold remove ID\` names who waits.`,
  );
}

/** Keys of the direct messages with a person, as far as anything knows of them. */
export async function directMessagesOf(
  sender: string,
  {
    store,
    pairing,
    audit,
  }: Readonly<{
    store: Store;
    pairing: Pairing;
    audit: Audit;
  }>,
): Promise<readonly string[]> {
  return roomsOf(sender, [
    ...(await heardInPrivate(store)),
    ...(await pairing.pending()).map((asked) => ({ sender: asked.sender, room: roomOf(asked.conversation) })),
    ...(await audit.meetings()),
  ]);
}

/** Keys of messages of the person that wait or are being answered. */
async function waitingOf(sender: string, store: Store): Promise<readonly string[]> {
  const waiting = await store.inbox.list('waiting');
  return waiting.flatMap(({ key, message }) => (message?.sender.id === sender ? [key] : []));
}

/** Who was heard in which private chat. A routine or a hook may speak where its person is not, so it does not count. */
async function heardInPrivate(store: Store): Promise<readonly Meeting[]> {
  const listed = [...(await store.inbox.list('waiting')), ...(await store.inbox.list('dead'))];
  return listed.flatMap(({ message }) =>
    message?.chatType === 'private' && !isUnattended(message.task)
      ? [{ sender: message.sender.id, room: roomOf(message.conversation) }]
      : [],
  );
}

/** Chats in which only this person was heard. */
function roomsOf(sender: string, meetings: readonly Meeting[]): readonly string[] {
  const others = new Set(meetings.flatMap((met) => (met.sender === sender ? [] : [met.room])));
  const theirs = new Set(meetings.flatMap((met) => (met.sender === sender ? [met.room] : [])));
  return [...theirs.difference(others)];
}

function roomOf({ channel, chat }: Conversation): string {
  return conversationKey({ channel, chat });
}

function isNamed({ owners, general, channels, chats }: AccessSettings, sender: string): boolean {
  const levels = [general, ...channels.values(), ...chats.values()];
  return [owners, ...levels.flatMap(({ users, groupUsers }) => [users ?? [], groupUsers ?? []])].some(
    (list) => listsId(list, sender),
  );
}
