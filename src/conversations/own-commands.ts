import { createHolds } from '../access/holds.ts';
import type { App } from '../app.ts';
import type { CommandRows } from '../core/chat-commands.ts';
import { chatIdOf, conversationKey } from '../core/conversation.ts';
import type { AnswerCommand } from '../core/feature.ts';
import { operatorZone } from '../core/local-time.ts';
import { requesterOf, type Message } from '../core/message.ts';
import { skilletHere } from '../core/skillet-here.ts';
import { skillNamed } from '../core/skill.ts';
import { fixed, sayIn, type Say } from '../core/texts/say.ts';
import { inlineCode } from '../lib/text/text.ts';
import {
  describeTasks,
  describeSkill,
  helpText,
  skillsText,
  startButtons,
  type Overview,
  type WriteHere,
} from './overview.ts';
import type { FeatureParts } from './parts-of-features.ts';
import { stopTask, stopWork, tasksHere, workHere } from './stop-work.ts';

/** The commands about the bot itself and what it is doing (I3, Q4). Features bring the others. */
export const ownCommandRows: CommandRows = {
  start: { about: 'Hello; with a code that you were given, it makes you an owner' },
  help: { menu: fixed`What I can do and how to ask for it`, alone: true },
  skills: {
    menu: fixed`The skills you can use here`,
    alone: true,
    help: (write, say) =>
      say`${write('skills')} lists what I can do here; ${write('skill', 'NAME text')} starts one`,
  },
  skill: { menu: fixed`Start a skill by its name`, alone: true },
  new: {
    menu: fixed`Start a new conversation`,
    help: (write, say) =>
      say`${write('new')} starts a new conversation, ${write('stop')} stops what I am doing`,
  },
  clear: { about: 'The same as `new`' },
  retry: {
    menu: fixed`Answer your last question again`,
    help: (write, say) => say`${write('retry')} answers your last question again`,
  },
  stop: { menu: fixed`Stop what I am doing` },
  tasks: {
    about: 'What runs in the background here',
    help: (write, say) =>
      say`${write('tasks')} lists what runs in the background, ${write('stop', 'ID')} stops one`,
  },
  status: {
    menu: fixed`How I am doing`,
    alone: true,
    help: (write, say) =>
      say`${write('status')} shows how I am doing, ${write('whoami')} shows your id and role`,
  },
  whoami: { menu: fixed`Your id and role`, alone: true },
  forget: {
    menu: fixed`How to delete what I keep about you`,
    alone: true,
    help: (write, say) => say`${write('forget')} tells you how to delete what I keep about you`,
  },
  exit: { about: 'Leave a terminal' },
};

/** Their answers. `new` and `clear` are answered in their turn in the queue. */
export function ownCommands(
  { runtime, store, users, audit, clock, workStates, writeCommand, chatCommands, outside }: App,
  { usable, status }: Overview,
  features: FeatureParts,
): Readonly<Record<string, AnswerCommand>> {
  function writeIn({ conversation }: Message): WriteHere {
    return (name, args) => writeCommand(conversation, name, args);
  }

  return {
    start: async (message, args) => {
      const named = /^skill_(.+)$/.exec(args)?.[1];
      const write = writeIn(message);
      const skill = named === undefined ? undefined : skillNamed(await usable(message), named);
      if (skill !== undefined)
        return { text: describeSkill(skill, write), more: { buttons: startButtons([skill]) } };
      const { name } = runtime().config.bot;
      return {
        text: sayTo(
          message,
        )`Hello, I am ${name}. Write to me, or use a skill: ${write('skills')} lists them, ${write('help')} tells you more.`,
      };
    },
    help: async (message) => {
      const offered = await outside.offered(requesterOf(message), 'person');
      const skills = offered.length === 0 ? [] : await usable(message);
      // Own commands and skills come before a tool's command of the same name.
      const isTaken = (name: string): boolean =>
        chatCommands.row(name) !== undefined || skillNamed(skills, name) !== undefined;
      return {
        text: helpText(writeIn(message), sayTo(message), {
          channel: message.conversation.channel,
          commands: chatCommands,
          ofTools: offered.flatMap(({ command }) =>
            command === undefined || isTaken(command.name) ? [] : [command],
          ),
        }),
      };
    },
    skills: async (message) => ({
      text: skillsText(await usable(message), writeIn(message), sayTo(message)),
    }),
    skill: async (message, args) => {
      const skills = await usable(message);
      const list = skillsText(skills, writeIn(message), sayTo(message));
      if (args !== '') return { text: sayTo(message)`There is no skill ${inlineCode(args)} here. ${list}` };
      return { text: list, more: { buttons: startButtons(skills.slice(0, 20)) } };
    },
    stop: async (message, args) => {
      const { sender, conversation } = message;
      const options = {
        isOwner: await users.isOwner(sender.id),
        store,
        onStopped: (cancelled: readonly string[]) =>
          features.stopped({ sender: sender.id, conversation, cancelled }),
      };
      const text = await (args === ''
        ? stopWork(message, options)
        : stopTask(message, args, options, writeIn(message)('tasks')));
      await workStates.refresh(conversation);
      return { text };
    },
    tasks: async (message) => ({
      text: describeTasks(await tasksHere(message, store.inbox), {
        requests: await store.pendingRequests.open(message.conversation),
        reader: message.sender,
        zone: operatorZone(runtime().config),
        known: new Set((await usable(message)).map(({ name }) => name)),
      }),
    }),
    status: async (message) => {
      const { running, waiting } = await workHere(message, store.inbox);
      const say = sayTo(message);
      const names = new Set(running.map((item) => inlineCode(item.message?.sender.name ?? '?')));
      const { model, used, notices } = await status(message.sender, message.conversation);
      const doing = names.size === 0 ? say`idle` : say`answering ${[...names].join(', ')}`;
      return {
        text: [
          model,
          say`Skills here: ${(await usable(message)).length}`,
          used,
          ...notices,
          say`Now: ${doing}, ${waiting.length} waiting`,
        ].join('\n\n'),
      };
    },
    whoami: async (message) => {
      const { sender, conversation, chatType, external } = message;
      const say = sayTo(message);
      const role = (await users.isOwner(sender.id)) ? say`owner` : say`user`;
      const place = external ? say`${chatType}, shared with others` : chatType;
      return {
        text: [
          say`You: ${inlineCode(sender.id)} (${role})`,
          say`Chat: ${inlineCode(chatIdOf(conversation))}, ${place}`,
        ].join('\n\n'),
      };
    },
    forget: async (message) => {
      const say = sayTo(message);
      const write = writeIn(message);
      const { id } = message.sender;
      const notes =
        chatCommands.row('memory') === undefined ? [] : [say`${write('memory')} removes single notes.`];
      const held = await createHolds({ store, audit, clock }).over([
        id,
        conversationKey(message.conversation),
      ]);
      return {
        text: [
          ...notes,
          say`To delete everything that I keep about you, ask my operator to run ${inlineCode(`${skilletHere()} forget ${id}`)}. That removes what we wrote, your files, notes and reminders, and your ratings. It can’t be undone.`,
          ...(held.length === 0 ? [] : [say`A legal hold keeps it for now, so that has to wait.`]),
        ].join(' '),
      };
    },
    retry: async (message) => {
      const { running, waiting } = await workHere(message, store.inbox);
      const queue = conversationKey(message.conversation);
      if (![...running, ...waiting].some((item) => item.queue === queue)) return undefined;
      const stop = writeIn(message)('stop');
      return { text: sayTo(message)`I am still answering. Write ${stop} first, or wait for my answer.` };
    },
    exit: async (message) => ({
      text: sayTo(
        message,
      )`You can leave only the terminal. ${writeIn(message)('new')} starts a new conversation.`,
    }),
  };
}

function sayTo({ sender }: Message): Say {
  return sayIn(sender.language);
}
