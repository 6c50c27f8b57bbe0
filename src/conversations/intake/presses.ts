import type { ChannelEvent, Press } from '../../core/channel.ts';
import { parseCommand, type Message } from '../../core/message.ts';
import type { Requester } from '../../core/tool.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { Store } from '../../store/store.ts';
import { askAnswers, type Approvals } from '../../approvals/approvals.ts';
import type { ApprovalOutcome } from '../../authoring/approve-skill.ts';
import type { ConfirmAccounts } from '../../capabilities/confirm-accounts.ts';
import { inlineCode } from '../../lib/text/text.ts';
import type { Groups } from './groups.ts';
import type { Pairing, PairingRequest } from '../../access/pairing.ts';
import type { Users } from '../../access/users.ts';
import type { SkillAuthoring } from '../../authoring/skill-authoring.ts';
import { memoryPrefix, type ShowMemory } from '../../memory/show-memory.ts';
import type { BookDeps } from '../../routines/define-routine.ts';
import { chooseZone, zonePrefix } from '../../routines/person-zone.ts';
import { routinePrefix } from '../../routines/routine-buttons.ts';
import { pressRoutine } from '../../routines/press-routine.ts';
import { settingPrefix } from '../../settings/setting-views.ts';
import type { SettingsTalk } from '../../settings/settings-talk.ts';
import { stopOwnRun } from '../stop-work.ts';
import { onlyToSender, partKey, type Replies, type ReplyOptions } from '../../replies/replies.ts';
import { fixed, sayIn, type Say } from '../../core/texts/say.ts';
import { skilletHere } from '../../core/skillet-here.ts';

export type PressEvent = Extract<ChannelEvent, { type: 'press' }>;
export type SayAs = (message: Message) => Promise<void>;

type PressDeps = Readonly<{
  host: Readonly<{
    store: Pick<Store, 'outbox' | 'commit' | 'inbox' | 'signals' | 'stop'>;
    clock: Pick<Clock, 'now'>;
    log: Log;
  }>;
  people: Readonly<{
    users: Users;
    pairing: Pairing;
    groups: Pick<Groups, 'decide'>;
    welcome(request: PairingRequest): Promise<void>;
  }>;
  authoring: Pick<SkillAuthoring, 'approvals' | 'mayApprove'>;
  approvals: Approvals;
  confirmations: Pick<ConfirmAccounts, 'answer'>;
  routines: BookDeps;
  settings: Pick<SettingsTalk, 'press'>;
  memory: Pick<ShowMemory, 'press'>;
  replies: Pick<Replies, 'rows'>;
}>;

/** Outside the queue (Q4). Anybody can press, so each action checks who did; failures are explained privately. */
export async function press(event: PressEvent, say: SayAs, deps: PressDeps): Promise<void> {
  const pressed = event.press;
  const [kind = '', ...rest] = pressed.action.split(':');
  if (kind === 'run') return say(toMessage(pressed, `/${rest.join(':')}`, deps.host.clock.now()));
  // Removed people can't press (S11).
  const may = await deps.people.users.mayAct(pressed);
  if (!may.allowed) {
    const { sender, action } = pressed;
    deps.host.log.warn({ sender: sender.id, action, code: may.code }, 'somebody pressed who is not admitted');
    event.tell?.(sayIn(sender.language)`You don’t have access to this bot. Ask its operator for it.`);
    return;
  }
  const words = await act(event, [kind, ...rest], deps);
  if (words !== undefined) event.tell?.(words);
}

function toMessage(pressed: Press, text: string, sentAt: number): Message {
  const { id, conversation, chatType, external, sender, ephemeral } = pressed;
  return {
    id: `press:${id}`,
    conversation,
    chatType,
    external,
    sender,
    ephemeral,
    text,
    addressed: true,
    command: parseCommand(text),
    attachments: [],
    sentAt,
  };
}

/** What to tell the presser if nothing was done. */
async function act(
  event: PressEvent,
  [kind, first = '', second = '', ...more]: readonly string[],
  deps: PressDeps,
): Promise<string | undefined> {
  const pressed = event.press;
  switch (kind) {
    case 'pair':
      return decidePairing(pressed, first, second, deps);
    case 'group':
      return decideGroup(pressed, first, [second, ...more].join(':'), deps);
    case 'skill':
      return decideSkill(pressed, first, second, deps);
    case settingPrefix:
      return changeSettings(event, deps);
    case memoryPrefix:
      return removeMemory(pressed, first, deps);
    case routinePrefix:
      return changeRoutine(pressed, first, second, deps);
    case zonePrefix:
      return takeZone(pressed, [first, [second, ...more].join(':')], deps);
    case 'ask':
      return answerAsk(pressed, first, second, deps);
    case 'stop':
      return stopOwnRun(pressed.sender, first, deps.host.store);
    case 'link':
      return confirmAccount(pressed, first, second, deps);
    default:
      deps.host.log.info({ action: pressed.action }, 'a button that means nothing any more was pressed');
      return sayIn(pressed.sender.language)(meansNothing);
  }
}

async function decidePairing(
  pressed: Press,
  verdict: string,
  code: string,
  deps: PressDeps,
): Promise<string | undefined> {
  const { users, pairing, welcome } = deps.people;
  const { sender } = pressed;
  const say = sayIn(sender.language);
  if (!(await users.isOwner(sender.id))) {
    warn('somebody who is not the owner pressed a pairing button', pressed, deps);
    return say`Only an owner can approve people.`;
  }
  const approves = verdict === 'approve';
  const request = await (approves ? pairing.approve(code, sender.id) : pairing.deny(code, sender.id));
  if (request === undefined) return show(pressed, say(codeGone), deps);
  if (approves) await welcome(request);
  const outcome = say(approves ? approved : denied, inlineCode(request.name), inlineCode(request.sender));
  return show(pressed, outcome, deps);
}

async function decideGroup(
  pressed: Press,
  verdict: string,
  id: string,
  deps: PressDeps,
): Promise<string | undefined> {
  const { users, groups } = deps.people;
  const { sender } = pressed;
  const say = sayIn(sender.language);
  if (!(await users.isOwner(sender.id))) {
    warn('somebody who is not the owner pressed a button on a group', pressed, deps);
    return say`Only an owner can decide about groups.`;
  }
  if (verdict !== 'allow' && verdict !== 'ignore') return say(meansNothing);
  const group = await groups.decide(id, verdict, sender.id);
  if (group === undefined) {
    const gone = say`${inlineCode(id)} has nothing left to decide. ${inlineCode(`${skilletHere()} pair list`)} shows the decisions.`;
    return show(pressed, gone, deps);
  }
  const words =
    verdict === 'allow'
      ? say`Allowed: ${inlineCode(group.name)}, ${inlineCode(id)}. People I know may talk to me there.`
      : say`Ignored: ${inlineCode(group.name)}, ${inlineCode(id)}. I stay silent there and won’t ask again.`;
  const undo = say`${inlineCode(`${skilletHere()} pair revoke ${id}`)} takes that back.`;
  return show(pressed, `${words} ${undo}`, deps);
}

async function decideSkill(
  pressed: Press,
  verdict: string,
  version: string,
  deps: PressDeps,
): Promise<string | undefined> {
  const { approvals, mayApprove } = deps.authoring;
  const say = sayIn(pressed.sender.language);
  if (!(await mayApprove(pressed.sender.id))) {
    warn('somebody who may not approve skills pressed a button that does', pressed, deps);
    return say`Only an owner or an approver can decide that.`;
  }
  const name = await approvals.nameOf(version);
  const decide = verdict === 'enable' ? approvals.enable : approvals.discard;
  const decided = name === undefined ? undefined : await decide(name, version, pressed.sender.id);
  return show(pressed, skillOutcome(decided, say), deps);
}

async function changeSettings(
  { press: pressed, openForm }: PressEvent,
  deps: PressDeps,
): Promise<string | undefined> {
  const changed = await deps.settings.press(pressed, openForm);
  if (changed === undefined || 'refused' in changed) return changed?.refused;
  return show(pressed, changed.text, deps, { buttons: changed.buttons });
}

async function removeMemory(pressed: Press, id: string, deps: PressDeps): Promise<string | undefined> {
  const view = await deps.memory.press(pressed, id);
  if (view === undefined) return sayIn(pressed.sender.language)`You can’t remove this note, or it is gone.`;
  return show(pressed, view.text, deps, { buttons: view.buttons });
}

async function takeZone(
  pressed: Press,
  [zone, asked]: readonly [string, string],
  deps: PressDeps,
): Promise<string | undefined> {
  const words = await chooseZone(zone, requesterOfPress(pressed), deps.routines);
  // Others in a group choose theirs, and the question stays for who was asked.
  return asked === '' || asked === pressed.sender.id ? show(pressed, words, deps) : words.replaceAll('`', '');
}

function requesterOfPress({ sender, conversation, chatType, external }: Press): Requester {
  const { id, kind, name, language, timezone } = sender;
  return { conversation, chatType, external, sender: id, kind, name, language, timezone };
}

async function changeRoutine(
  pressed: Press,
  action: string,
  routine: string,
  deps: PressDeps,
): Promise<string | undefined> {
  const requester = requesterOfPress(pressed);
  const done = await pressRoutine(action, routine, { press: pressed.id, requester }, deps.routines);
  if ('refused' in done) return done.refused;
  // The Home tab has no message to change: it lists the routines itself.
  if (pressed.receipt === undefined && pressed.ephemeral !== true) return done.said;
  return show(pressed, done.text, deps, { buttons: done.buttons });
}

async function answerAsk(
  { sender, conversation }: Press,
  id: string,
  value: string,
  { approvals }: PressDeps,
): Promise<string | undefined> {
  const say = sayIn(sender.language);
  const answer = askAnswers.find((known) => known === value);
  if (answer === undefined) return say(meansNothing);
  const from = { sender: sender.id, name: sender.name, conversation, language: sender.language };
  const answered = await approvals.answer(id, from, answer);
  // The message that asked shows it.
  if (answered.kind === 'taken') return undefined;
  return answered.kind === 'unknown' ? say(meansNothing) : answered.text.replaceAll('`', '');
}

async function confirmAccount(
  { sender, conversation }: Press,
  id: string,
  value: string,
  { confirmations, host }: PressDeps,
): Promise<string | undefined> {
  const say = sayIn(sender.language);
  if (value !== 'yes' && value !== 'no') return say(meansNothing);
  const from = { sender: sender.id, conversation, language: sender.language };
  const answered = await confirmations.answer(id, from, value === 'yes');
  if (answered.kind === 'taken') return undefined;
  host.log.info({ flow: id, sender: sender.id }, 'a press on a linked account did not count');
  return 'text' in answered ? answered.text : say(meansNothing);
}

/** The pressed message becomes the outcome. */
async function show(
  pressed: Press,
  outcome: string,
  { host: { store }, replies }: PressDeps,
  more?: ReplyOptions,
): Promise<undefined> {
  const { id, conversation, receipt, ephemeral } = pressed;
  const key = `outcome:${id}`;
  // Ephemeral messages can't be edited.
  if (ephemeral !== true && receipt !== undefined) await store.outbox.show(partKey(key, 0), receipt);
  const outbox = await replies.rows(conversation, key, outcome, { ...onlyToSender(pressed), ...more });
  await store.commit({ outbox });
}

function warn(message: string, { sender, action }: Press, { host: { log } }: PressDeps): void {
  log.warn({ sender: sender.id, action }, message);
}

const meansNothing = fixed`This button has expired. Please ask me again.`;
const codeGone = fixed`This code is no longer valid. They get a new one if they write to me again.`;
const approved = fixed`Approved ${0} (${1}).`;
const denied = fixed`Denied ${0} (${1}).`;
const versionGone = fixed`This version of the skill no longer exists.`;

function skillOutcome(decided: ApprovalOutcome | undefined, say: Say): string {
  if (decided === undefined) return say(versionGone);
  const name = inlineCode(decided.name);
  switch (decided.outcome) {
    case 'enabled':
      return say`Enabled: ${name}.`;
    case 'discarded':
      return say`Discarded: ${name}.`;
    case 'restored':
      return say`Discarded the change of ${name}. The version enabled before is back in use.`;
    case 'changed':
      return say`${name} has changed since, so I did nothing. Review it, then run ${inlineCode(`${skilletHere()} skill enable`)}.`;
    case 'unknown':
      return say(versionGone);
  }
}
