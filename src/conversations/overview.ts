import type { App } from '../app.ts';
import { decideSkill, type AccessContext } from '../access/decide-skill.ts';
import type { CommandTable } from '../core/chat-commands.ts';
import type { Button } from '../core/channel.ts';
import type { Conversation } from '../core/conversation.ts';
import type { Feature } from '../core/feature.ts';
import { shownIdLength, skillOf, type Message, type Sender } from '../core/message.ts';
import type { Skill } from '../core/skill.ts';
import type { ToolCommand } from '../core/tool-command.ts';
import { sayIn, type Say } from '../core/texts/say.ts';
import { inlineCode, oneLine } from '../lib/text/text.ts';
import { journalOf } from '../runs/tasks.ts';
import { goneWords, nameModel } from '../tools/settings/chat-agent.ts';
import { waitsForYes, type PendingRequest } from '../store/pending-requests.ts';
import type { ListedItem } from '../store/inbox.ts';

export type Overview = Readonly<{
  /** Skills that this person may start by name here (A2, I4). */
  usable(by: Parameters<AccessContext>[0]): Promise<readonly Skill[]>;
  /** One sentence each about the model, the person's tokens today and dollars this month, and problems that only owners see. */
  status(
    reader: Message['sender'],
    /** The chat whose own model counts. Undefined: the default model. */
    conversation?: Conversation,
  ): Promise<Readonly<{ model: string; used: string; notices: readonly string[] }>>;
}>;

export function createOverview(
  { runtime, library, budgets, users, accessOf, chatAgent, chatCommands }: App,
  features: readonly Feature[],
): Overview {
  function modelName(say: Say, model: string): string {
    const { models, config } = runtime();
    if (models.offline && model === 'default') return say`none is connected`;
    return nameModel(config.models, models.get(model).alias);
  }

  async function usedToday({ id, language }: Message['sender']): Promise<string> {
    const say = sayIn(language);
    const { tokens, usd } = await budgets.today(id);
    const { tokensPerDay, usdPerDay } = runtime().config.limits;
    const { number } = say;
    const used = tokensPerDay > 0 ? say`${number(tokens)} of ${number(tokensPerDay)}` : number(tokens);
    if (usd === 0) return used;
    const money = usdPerDay > 0 ? say`${number(usd, 2)} of ${number(usdPerDay, 2)}` : number(usd, 2);
    return say`${used}, ${money} US dollars`;
  }

  /** Nothing if the person has no budget of a month (G6). */
  async function usedThisMonth({ id, language }: Message['sender']): Promise<readonly string[]> {
    const { usdPerMonth } = runtime().config.limits;
    if (usdPerMonth === 0) return [];
    const say = sayIn(language);
    const spent = say.number(await budgets.thisMonth(id), 2);
    return [say`This month: ${spent} of ${say.number(usdPerMonth, 2)} US dollars`];
  }

  async function noticesFor(reader: Sender): Promise<readonly string[]> {
    return (await Promise.all(features.map(async (feature) => feature.notices?.(reader) ?? []))).flat();
  }

  return {
    async usable(by) {
      const use = await accessOf(by);
      return library
        .current()
        .userInvocable.filter(
          (skill) =>
            chatCommands.row(skill.name) === undefined && decideSkill(skill, runtime().rules, use).allowed,
        );
    },
    async status(reader, conversation) {
      const say = sayIn(reader.language);
      const standing = { model: runtime().config.agent.model, isChosen: false, persona: '' };
      const here = conversation === undefined ? standing : await chatAgent.of(conversation);
      return {
        model: [say`Model: ${modelName(say, here.model)}`, ...goneWords(here, say)].join(' '),
        used: [say`Your tokens today: ${await usedToday(reader)}`, ...(await usedThisMonth(reader))].join(
          '\n\n',
        ),
        notices: (await users.isOwner(reader.id)) ? await noticesFor(reader) : [],
      };
    },
  };
}

type Reading = Readonly<{
  requests: readonly PendingRequest[];
  reader: Sender;
  /** IANA time zone for readers whose own is unknown. */
  zone: string;
  /**
   * Names of skills that the reader may know of here. Runs of other people are named only if their skill is among these
   * (A11).
   */
  known?: ReadonlySet<string>;
}>;

export function describeTasks(items: readonly ListedItem[], reading: Reading): string {
  const say = sayIn(reading.reader.language);
  if (items.length === 0) return say`Nothing runs in the background here.`;
  const lines = items.map((item) => `- ${describeTask(item, reading)}`);
  return [say`In the background here:`, '', ...lines].join('\n');
}

export function describeTask(
  { key, message, takenAt, acceptedAt }: ListedItem,
  { requests, reader, zone, known }: Reading,
): string {
  const say = sayIn(reader.language);
  const { task, sender } = message ?? {};
  const journal = task?.kind === 'run' ? journalOf(task) : undefined;
  const request = requests.find((one) => waitsForYes(one) && one.transcript === journal);
  const state = takenAt === undefined ? say`waiting` : say`running`;
  const isTheirs = request?.requester === reader.id && request.payload['byApprover'] !== true;
  const asked = isTheirs ? say`waiting for your yes` : say`waiting for a yes`;
  const since = say.time(request?.askedAt ?? acceptedAt, reader.timezone ?? zone);
  const skill = skillOf(task);
  const isTold = skill !== undefined && (sender?.id === reader.id || known?.has(skill) === true);
  const what = `\`${task?.id.slice(0, shownIdLength) ?? key}\` ${isTold ? skill : say`a run`}`;
  const name = inlineCode(sender?.name ?? say`somebody`);
  return say`${what}, for ${name}, ${request === undefined ? state : asked} since ${since}`;
}

export type WriteHere = (name: string, args?: string) => string;

export function describeSkill(skill: Skill, write: WriteHere): string {
  return `${write(skill.name, skill.argumentHint ?? '')}: ${oneLine(skill.description, 300)}`;
}

export function skillsText(skills: readonly Skill[], write: WriteHere, say: Say): string {
  if (skills.length === 0) return say`No skills are available to you here.`;
  const shown = skills
    .slice(0, 50)
    .map((skill) => `- ${write(skill.name, '')} ${oneLine(skill.description, 100)}`);
  const more = skills.length > 50 ? [`- ${say`and ${skills.length - 50} more`}`] : [];
  return [say`Skills you can use here:`, '', ...shown, ...more].join('\n');
}

/** A button for each skill whose action fits the 64 bytes that Telegram allows. */
export function startButtons(skills: readonly Skill[]): readonly Button[] {
  return skills
    .map(({ name }) => ({ label: name, action: `run:${name}` }))
    .filter(({ action }) => Buffer.byteLength(action) <= 64);
}

/** How many commands of tools `/help` lists. */
const mostTools = 50;

/** What `/help` says. The terminal's help does not mention direct messages and groups, because it has none. */
export function helpText(
  write: WriteHere,
  say: Say,
  {
    channel,
    commands,
    ofTools = [],
  }: Readonly<{
    channel: string;
    commands: CommandTable;
    /** Commands of tools that the reader may start by them. */
    ofTools?: readonly ToolCommand[];
  }>,
): string {
  const lines = commands.names.flatMap((name) => commands.row(name)?.help?.(write, say) ?? []);
  const tools = ofTools
    .slice(0, mostTools)
    .map(({ name, hint, about }) => `${write(name, hint)} ${about === '' ? '' : inlineCode(about)}`.trim());
  return [
    ...(channel === 'terminal' ? [] : [say`Write to me in a direct message, or mention me in a group.`, '']),
    ...[...lines, ...tools].map((line) => `- ${line}`),
  ].join('\n');
}
