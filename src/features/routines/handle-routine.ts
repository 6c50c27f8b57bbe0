import type { App } from '../../app.ts';
import { decideSkill, type SkillUse } from '../../access/decide-skill.ts';
import type { QueuedTask, Rateable } from '../../core/feature.ts';
import { operatorZone } from '../../core/local-time.ts';
import { requesterOf, type Message } from '../../core/message.ts';
import { sayIn, type Say } from '../../core/texts/say.ts';
import { inlineCode } from '../../lib/text/text.ts';
import { partKey } from '../../replies/replies.ts';
import { headOf, readRoutineAnswer, type RoutineTask } from './routine-message.ts';
import { settleRoutine, stopRoutine } from './settle-routine.ts';

type Fired = Readonly<{ key: string; message: Message; task: RoutineTask }>;

/**
 * Runs a due routine with the rights that its creator has in its chat now (N3, S17). May be repeated at any point (Q5).
 */
export async function handleRoutine(
  { wasStarted, think, ...given }: Fired & Pick<QueuedTask, 'wasStarted' | 'think'>,
  deps: App,
): Promise<void> {
  const { key, task } = given;
  const { store } = deps;
  const routine = await store.routines.find(task.id);
  const isOff = routine === undefined || (routine.state === 'paused' && task.byHand !== true);
  // Somebody removed or paused the routine after it was queued.
  if (isOff && !wasStarted) return store.commit({ done: key });
  const now = await asOfNow(given.message, deps);
  const message = now ?? given.message;
  const fired = { key, message, task };
  const barred = await whyBarred(fired, deps);
  if (barred !== undefined) return stop(fired, barred, deps);
  // The item fails and is retried, because the chat may have changed since the routine was set up (S17).
  if (now === undefined) throw new Error(`the chat of the routine ${task.id} could not be looked up`);
  if (task.reminder === true) return tell(fired, 'answered', message.text, deps);
  // Work that was started is finished, even if a budget has run out since (Q5).
  const over = wasStarted ? undefined : await deps.budgets.ofMessage(requesterOf(message));
  if (over !== undefined) return tell(fired, 'failed', over, deps);
  const { text, failed, rateable } = await think(message, task.skill);
  // A person who was removed meanwhile gets no answer (A9).
  const barredNow = await whyBarred(fired, deps);
  if (barredNow !== undefined) return stop(fired, barredNow, deps);
  const answer = readRoutineAnswer(text, task);
  await tell(fired, failed ? 'failed' : answer.how, failed ? text : answer.text, deps, { rateable });
}

/** Looks up whether others read along now. Undefined if the chat can't be looked up. */
async function asOfNow(message: Message, { channels }: App): Promise<Message | undefined> {
  const looked = await channels.get(message.conversation.channel)?.lookUpChat(message.conversation);
  if (looked === undefined || looked.chatType === 'unknown') return undefined;
  return { ...message, chatType: looked.chatType, external: looked.external };
}

/** Tells the chat that its routine is dead-lettered (N4). May be repeated. */
export async function failRoutine(fired: Fired, words: string, deps: App): Promise<void> {
  await tell(fired, 'failed', words, deps, { key: deadKey(fired.key) });
}

function deadKey(key: string): string {
  return `${key}!dead`;
}

/** Says why the routine may not run, in the language of `say`. */
type Why = (say: Say) => string;

async function whyBarred(
  { message, task }: Fired,
  { users, accessOf, store, library, channels, runtime, log }: App,
): Promise<Why | undefined> {
  const decision = await users.decide(message);
  if (!decision.allowed) {
    const { code, reason } = decision;
    log.warn({ routine: task.id, code, reason }, 'the creator of a routine is no longer admitted');
    return (say) => say`its creator may not talk with me there any more.`;
  }
  // A routine from `config.toml` may write into a direct message only if that is its own person's.
  const { definition, last } = (await store.routines.find(task.id)) ?? {};
  const mayBeOthers = definition?.fromConfig === true && message.chatType === 'private';
  const { conversation, sender } = message;
  const looked = mayBeOthers ? await channels.get(conversation.channel)?.lookUpChat(conversation) : undefined;
  if (mayBeOthers && looked?.person !== sender.id)
    return (say) => say`a direct message takes only routines of its own person.`;
  const told = last === undefined || last.key === message.id ? [] : [last.key, deadKey(last.key)];
  const gone = told.length === 0 ? [] : await store.outbox.givenUp();
  if (gone.some(({ key }) => told.some((one) => key === partKey(one, 0))))
    return (say) => say`I can’t write to that chat any more.`;
  if (task.skill === undefined) return undefined;
  const name = task.skill;
  const skill = library.current().get(name);
  if (skill === undefined) return (say) => say`there is no skill ${inlineCode(name)} any more.`;
  const use: SkillUse = { ...(await accessOf(message)), by: 'model' };
  if (decideSkill(skill, runtime().rules, use).allowed) return undefined;
  return (say) => say`its creator may not use the skill ${inlineCode(name)} there any more.`;
}

async function stop({ message, task }: Fired, why: Why, deps: App): Promise<void> {
  const direct = { channel: message.conversation.channel, chat: message.sender.id.replace(/^[^:]*:/, '') };
  const may = await deps.users.mayAct({ ...message, conversation: direct, chatType: 'private' });
  const how = { why, isRemoved: !may.allowed };
  return stopRoutine({ message, task }, how, deps);
}

async function tell(
  fired: Fired,
  how: 'answered' | 'quiet' | 'failed',
  text: string,
  deps: App,
  { key = fired.key, rateable }: Readonly<{ key?: string; rateable?: Rateable | undefined }> = {},
): Promise<void> {
  const { message, task } = fired;
  const { note, buttons } = await settleRoutine({ message, task }, how, deps);
  // A routine that found nothing to report sends nothing (N6).
  if (how === 'quiet') return deps.store.commit({ done: fired.key });
  const say = sayIn(message.sender.language);
  const zone = operatorZone(deps.runtime().config);
  const words =
    text === ''
      ? say`I couldn’t do this. Please word the task differently, or ask me what went wrong.`
      : await deps.sendLargeTables(message, text);
  const whole = [headOf(task, message, zone), words, ...(note === undefined ? [] : [note])].join('\n\n');
  const done = key === fired.key ? key : undefined;
  await deps.replies.answer(message, whole, { ...rateable, key, buttons, done });
}
