import type { ChannelEvent, Press } from '../../core/channel.ts';
import { parseCommand, type Message } from '../../core/message.ts';
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
import { settingPrefix } from '../../settings/setting-views.ts';
import type { SettingsTalk } from '../../settings/settings-talk.ts';
import { stopOwnRun } from '../stop-work.ts';
import { onlyToSender, partKey, type Replies, type ReplyOptions } from '../../replies/replies.ts';
import { fixed, sayIn, type Say } from '../../core/texts/say.ts';

type PressEvent = Extract<ChannelEvent, { type: 'press' }>;

export type Presses = Readonly<{
  /**
   * Acts on a press at once, outside the queue (Q4). A press that starts a skill becomes a message. A press that does
   * nothing is explained in private.
   */
  press(event: PressEvent, say: (message: Message) => Promise<void>): Promise<void>;
}>;

/** Anybody in a chat can press the bot's buttons: each action judges its presser. */
export function createPresses(deps: {
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
  settings: Pick<SettingsTalk, 'press'>;
  replies: Pick<Replies, 'rows'>;
}): Presses {
  const { store, clock, log } = deps.host;
  const { users, pairing, groups, welcome } = deps.people;
  const { authoring, approvals, confirmations, settings, replies } = deps;

  async function decidePairing(press: Press, verdict: string, code: string): Promise<string | undefined> {
    const say = sayIn(press.sender.language);
    if (!(await users.isOwner(press.sender.id))) {
      log.warn(
        { sender: press.sender.id, action: press.action },
        'somebody who is not the owner pressed a pairing button',
      );
      return say`Only an owner can approve people.`;
    }
    const request =
      verdict === 'approve'
        ? await pairing.approve(code, press.sender.id)
        : await pairing.deny(code, press.sender.id);
    if (request !== undefined && verdict === 'approve') await welcome(request);
    const outcome =
      request === undefined
        ? say`This code is no longer valid.`
        : say(
            verdict === 'approve' ? approved : denied,
            inlineCode(request.name),
            inlineCode(request.sender),
          );
    return show(press, outcome);
  }

  async function decideGroup(press: Press, verdict: string, id: string): Promise<string | undefined> {
    const say = sayIn(press.sender.language);
    if (!(await users.isOwner(press.sender.id))) {
      log.warn(
        { sender: press.sender.id, action: press.action },
        'somebody who is not the owner pressed a button on a group',
      );
      return say`Only an owner can decide about groups.`;
    }
    if (verdict !== 'allow' && verdict !== 'ignore') return say(meansNothing);
    const group = await groups.decide(id, verdict, press.sender.id);
    if (group === undefined)
      return show(
        press,
        say`${inlineCode(id)} has nothing left to decide. ${inlineCode('skillet pair list')} shows the decisions.`,
      );
    const words =
      verdict === 'allow'
        ? say`Allowed: ${inlineCode(group.name)}, ${inlineCode(id)}. People I know may talk to me there.`
        : say`Ignored: ${inlineCode(group.name)}, ${inlineCode(id)}. I stay silent there and won’t ask again.`;
    const undo = say`${inlineCode(`skillet pair revoke ${id}`)} takes that back.`;
    return show(press, `${words} ${undo}`);
  }

  async function decideSkill(press: Press, verdict: string, version: string): Promise<string | undefined> {
    const { approvals, mayApprove } = authoring;
    const say = sayIn(press.sender.language);
    if (!(await mayApprove(press.sender.id))) {
      log.warn(
        { sender: press.sender.id, action: press.action },
        'somebody who may not approve skills pressed a button that does',
      );
      return say`Only an owner or an approver can decide that.`;
    }
    const name = await approvals.nameOf(version);
    const act = verdict === 'enable' ? approvals.enable : approvals.discard;
    const decided = name === undefined ? undefined : await act(name, version);
    return show(press, skillOutcome(decided, say));
  }

  /** The pressed message becomes the outcome, through the outbox. */
  async function show(press: Press, outcome: string, more?: ReplyOptions): Promise<undefined> {
    const { id, conversation, receipt, ephemeral } = press;
    const key = `outcome:${id}`;
    // An ephemeral message can't be edited: the outcome is a new one.
    if (ephemeral !== true && receipt !== undefined) await store.outbox.show(partKey(key, 0), receipt);
    await store.commit({
      outbox: replies.rows(conversation, key, outcome, { ...onlyToSender(press), ...more }),
    });
  }

  async function changeSettings({ press, openForm }: PressEvent): Promise<string | undefined> {
    const pressed = await settings.press(press, openForm);
    if (pressed === undefined || 'refused' in pressed) return pressed?.refused;
    return show(press, pressed.text, { buttons: pressed.buttons });
  }

  async function answerAsk(
    { sender, conversation }: Press,
    id: string,
    value: string,
  ): Promise<string | undefined> {
    const answer = askAnswers.find((known) => known === value);
    if (answer === undefined) return sayIn(sender.language)(meansNothing);
    const answered = await approvals.answer(
      id,
      { sender: sender.id, name: sender.name, conversation, ...languageOf(sender) },
      answer,
    );
    // Everybody sees it in the message that asked.
    if (answered.kind === 'taken') return undefined;
    return answered.kind === 'unknown' ? sayIn(sender.language)(meansNothing) : withoutMarks(answered.text);
  }

  async function confirmAccount(
    { sender, conversation }: Press,
    id: string,
    value: string,
  ): Promise<string | undefined> {
    if (value !== 'yes' && value !== 'no') return sayIn(sender.language)(meansNothing);
    const answered = await confirmations.answer(
      id,
      { sender: sender.id, conversation, ...languageOf(sender) },
      value === 'yes',
    );
    if (answered.kind === 'taken') return undefined;
    log.info({ flow: id, sender: sender.id }, 'a press on a linked account did not count');
    return 'text' in answered ? answered.text : sayIn(sender.language)(meansNothing);
  }

  /** Returns what the presser is told if nothing was done. */
  async function act(event: PressEvent, [kind, ...rest]: readonly string[]): Promise<string | undefined> {
    const { press } = event;
    switch (kind) {
      case 'pair':
        return decidePairing(press, rest[0] ?? '', rest[1] ?? '');
      case 'group':
        return decideGroup(press, rest[0] ?? '', rest.slice(1).join(':'));
      case 'skill':
        return decideSkill(press, rest[0] ?? '', rest[1] ?? '');
      case settingPrefix:
        return changeSettings(event);
      case 'ask':
        return answerAsk(press, rest[0] ?? '', rest[1] ?? '');
      case 'stop':
        return stopOwnRun(press.sender, rest[0] ?? '', store);
      case 'link':
        return confirmAccount(press, rest[0] ?? '', rest[1] ?? '');
      default:
        log.info({ action: press.action }, 'a button that means nothing any more was pressed');
        return sayIn(press.sender.language)(meansNothing);
    }
  }

  return {
    async press(event, say) {
      const { press } = event;
      const [kind, ...rest] = press.action.split(':');
      if (kind !== 'run') {
        // A removed person can press nothing, whatever they were asked before (S11).
        const may = await users.mayAct(press);
        if (!may.allowed) {
          const { sender, action } = press;
          log.warn({ sender: sender.id, action, code: may.code }, 'somebody pressed who is not admitted');
          event.tell?.(sayIn(sender.language)`You don’t have access to this bot.`);
          return;
        }
        const words = await act(event, [kind ?? '', ...rest]);
        if (words !== undefined) event.tell?.(words);
        return;
      }
      const text = `/${rest.join(':')}`;
      const command = parseCommand(text);
      const { conversation, chatType, external, sender, ephemeral } = press;
      await say({
        id: `press:${press.id}`,
        conversation,
        chatType,
        external,
        sender,
        ephemeral,
        text,
        addressed: true,
        command,
        attachments: [],
        sentAt: clock.now(),
      });
    },
  };
}

const meansNothing = fixed`This button has expired.`;
const approved = fixed`Approved ${0} (${1}).`;
const denied = fixed`Denied ${0} (${1}).`;

function languageOf({ language }: Press['sender']): Readonly<{ language?: string }> {
  return language === undefined ? {} : { language };
}

/** For where no Markdown is shown. */
function withoutMarks(markdown: string): string {
  return markdown.replaceAll('`', '');
}

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
      return say`${name} has changed since, so I did nothing. Review it, then run ${inlineCode('skillet skill enable')}.`;
    case 'unknown':
      return say(versionGone);
  }
}
