import type { MessageDenial } from '../../access/decide-message.ts';
import type { App } from '../../app.ts';
import type { Users } from '../../access/users.ts';
import type { ChannelEvent, Visit, Home } from '../../core/channel.ts';
import { operatorZone } from '../../core/local-time.ts';
import type { Message } from '../../core/message.ts';
import type { Skill } from '../../core/skill.ts';
import { sayIn } from '../../core/texts/say.ts';
import { inlineCode, oneLine } from '../../lib/text/text.ts';
import { describeTask, skillsText, startButtons, type Overview } from '../overview.ts';
import { ownRuns, taskId } from '../stop-work.ts';
import type { FeatureParts } from '../parts-of-features.ts';
import { press, type SayAs } from './presses.ts';

export type HomeEvent = Extract<ChannelEvent, { type: 'home' }>;
export type OpenedEvent = Extract<ChannelEvent, { type: 'opened' }>;

export type PageDeps = App & Readonly<{ overview: Overview; features: FeatureParts }>;

const mostRuns = 10;
const mostPrompts = 3;
const longestTitle = 75;

/** Shows the Home tab, and first answers a press on one of its buttons (H4). */
export async function showHomePage(
  { visit, showHome, ...more }: HomeEvent,
  say: SayAs,
  deps: PageDeps,
): Promise<void> {
  const { action, ...who } = visit;
  const told: string[] = [];
  if (action !== undefined) {
    const tell = (words: string): void => void told.push(words);
    const heard = async (message: Message): Promise<void> => {
      tell(sayIn(who.sender.language)`I answer in our direct message.`);
      await say(message);
    };
    await press({ ...more, type: 'press', press: { ...who, action }, tell }, heard, deps);
  }
  showHome(await homePage(visit, told, deps));
}

/** `told` is the outcome of a press, shown at the top. */
async function homePage(visit: Visit, told: readonly string[], deps: PageDeps): Promise<Home> {
  const { sender } = visit;
  const { runtime, users, overview, features } = deps;
  const say = sayIn(sender.language);
  const may = await users.mayAct(visit);
  if (!may.allowed) return [{ markdown: toStranger(visit, may.code) }];
  const { name } = runtime().config.bot;
  const hello = say`Hello, I am ${name}. Write to me in a direct message, or start a skill here: I answer there.`;
  const { model, used, notices } = await overview.status(sender);
  const brought = await Promise.all(features.all.map(async (feature) => (await feature.home?.(visit)) ?? {}));
  return [
    { markdown: [...told, hello].join('\n\n') },
    ...brought.flatMap(({ top = [] }) => top),
    ...(await runs(visit, deps)),
    await skills(visit, deps),
    { markdown: [used, model, ...notices].join('\n\n') },
    ...brought.flatMap(({ end = [] }) => end),
  ];
}

async function runs({ sender }: Visit, { runtime, store }: PageDeps): Promise<Home> {
  const say = sayIn(sender.language);
  const zone = operatorZone(runtime().config);
  const shown = (await ownRuns(sender.id, store.inbox)).slice(0, mostRuns);
  return Promise.all(
    shown.map(async (item) => {
      const requests =
        item.message === undefined ? [] : await store.pendingRequests.open(item.message.conversation);
      const action = `stop:${taskId(item) ?? ''}`;
      const markdown = describeTask(item, { requests, reader: sender, zone });
      return { markdown, buttons: [{ label: say`Stop`, action }] };
    }),
  );
}

async function skills(visit: Visit, { overview, writeCommand }: PageDeps): Promise<Home[number]> {
  const { conversation, sender } = visit;
  const usable = await overview.usable(visit);
  const write = (name: string, args?: string): string => writeCommand(conversation, name, args);
  return { markdown: skillsText(usable, write, sayIn(sender.language)), buttons: startButtons(usable) };
}

function toStranger({ sender }: Visit, code: MessageDenial): string {
  const say = sayIn(sender.language);
  if (code === 'STRANGER')
    return say`I don't know you yet. Write to me in a direct message: I’ll reply with a pairing code that my operator can approve.`;
  if (code === 'NOT_ALLOWED')
    return say`I only talk to people my operator has listed. Your id is ${inlineCode(sender.id)}.`;
  return say`You don’t have access to this bot. Ask its operator for it.`;
}

/** Suggests prompts to a person who opens their direct message (H4). */
export async function suggestPrompts(
  { visit, suggest }: OpenedEvent,
  { users, overview }: Readonly<{ users: Users; overview: Overview }>,
): Promise<void> {
  if (!(await users.mayAct(visit)).allowed) return;
  const question = sayIn(visit.sender.language)`What can you do?`;
  const skills = (await overview.usable(visit)).filter(startsAlone).slice(0, mostPrompts);
  suggest([
    { title: question, say: question },
    ...skills.map(({ name, description }) => ({
      title: oneLine(`${name}: ${description}`, longestTitle),
      start: name,
    })),
  ]);
}

function startsAlone({ argumentHint = '' }: Skill): boolean {
  return argumentHint === '' || argumentHint.startsWith('[');
}
