import type { InitAnswers, FoundPerson } from './answers.ts';
import type { Dialog } from './dialog.ts';
import { listenFor, newCode, type PersonListening } from './listen-for.ts';
import type { WizardFlags } from './wizard-flags.ts';

const defaultWaitSeconds = 300;

type Found = Pick<InitAnswers, 'owners' | 'groups'>;

/**
 * Finds owners by a code that they send to the bot, and groups by adding the bot to them. Both may be given by id
 * instead.
 */
export async function findPeople(dialog: Dialog, flags: WizardFlags, answers: InitAnswers): Promise<Found> {
  const owners: readonly FoundPerson[] = (flags.owner ?? []).map((id) => ({ id }));
  const groups: readonly FoundPerson[] = (flags.group ?? []).map((id) => ({ id }));
  const hasChannel = answers.telegram !== undefined || answers.slack !== undefined;
  if (!hasChannel || flags.offline === true) return { owners, groups };
  const wants = {
    owner: flags['find-owner'] === true || (dialog.asks && owners.length === 0),
    group: flags['find-group'] === true || dialog.asks,
  };
  if (!wants.owner && !wants.group) return { owners, groups };
  await using listening = await dialog.connect('Connecting', () => listenFor(answers));
  const waitMs = (flags.wait ?? defaultWaitSeconds) * 1_000;
  const waiting = { listening, waitMs };
  const allOwners = wants.owner ? [...owners, ...(await findOwners(dialog, answers, waiting))] : owners;
  const found = wants.group ? await findGroups(dialog, flags, listening, { owners: allOwners, waitMs }) : [];
  return { owners: allOwners, groups: [...groups, ...found] };
}

type Waiting = Readonly<{ listening: PersonListening; waitMs: number }>;
type ChannelName = 'telegram' | 'slack';

const titles: Readonly<Record<ChannelName, string>> = { telegram: 'Telegram', slack: 'Slack' };

/** Finds an owner on each connected channel, because a person known on one is a stranger on the other. */
async function findOwners(
  dialog: Dialog,
  answers: InitAnswers,
  waiting: Waiting,
): Promise<readonly FoundPerson[]> {
  const connected = (['telegram', 'slack'] as const).filter((name) => answers[name] !== undefined);
  const first = await findOwner(dialog, answers, { ...waiting, on: connected });
  const [other] = connected.filter((name) => !first.id.startsWith(`${name}:`));
  if (other === undefined) return [first];
  const isThere =
    !dialog.asks ||
    (await dialog.confirm(`Are you on ${titles[other]}, too? There you are a stranger so far.`, true));
  return isThere ? [first, await findOwner(dialog, answers, { ...waiting, on: [other] })] : [first];
}

/** Finds one owner. `on` are the channels on which the code counts. */
async function findOwner(
  dialog: Dialog,
  { telegram }: InitAnswers,
  { listening, waitMs, on }: Waiting & Readonly<{ on: readonly ChannelName[] }>,
): Promise<FoundPerson> {
  const code = newCode();
  const name = telegram?.username;
  dialog.say(
    [
      `To become its owner, send the bot this code in a direct message on ${on.map((one) => titles[one]).join(' or ')}:`,
      `  ${code}`,
      ...(name === undefined || !on.includes('telegram')
        ? []
        : [`On Telegram, open https://t.me/${name}?start=${code} and press Start.`]),
      ...(on.includes('slack') ? ['On Slack, look for the app under Apps and write to it.'] : []),
    ].join('\n'),
  );
  const owner = await dialog.during('Waiting for the code', () => listening.owner({ code, on }, waitMs));
  dialog.say(`The owner is ${owner.name} (${owner.id}).`);
  return owner;
}

async function findGroups(
  dialog: Dialog,
  flags: WizardFlags,
  listening: PersonListening,
  { owners, waitMs }: Readonly<{ owners: readonly FoundPerson[]; waitMs: number }>,
): Promise<readonly FoundPerson[]> {
  const found: FoundPerson[] = [];
  const ids = owners.map(({ id }) => id);
  const wantsMore = async (): Promise<boolean> =>
    dialog.asks
      ? dialog.confirm(found.length === 0 ? 'Use it in a group or channel?' : 'In another one, too?', false)
      : flags['find-group'] === true && found.length === 0;
  while (await wantsMore()) {
    dialog.say('Add the bot to the group or channel now.');
    const group = await dialog.during('Waiting to be added', () => listening.group(ids, waitMs));
    found.push(group);
    dialog.say(`Admitted: ${group.name ?? 'a group'} (${group.id}).`);
  }
  return found;
}
