import type { App, Desk } from '../../app.ts';
import { doneCalls } from '../../agent/next-step.ts';
import type { Press } from '../../core/channel.ts';
import type { Feature } from '../../core/feature.ts';
import { fixed } from '../../core/texts/say.ts';
import { isOfRoutine, requesterOf, type Message } from '../../core/message.ts';
import type { Requester } from '../../core/tool.ts';
import type { FeatureKit } from '../kit.ts';
import { answerRoutines } from './answer-routines.ts';
import { checkRoutines } from './check-routines.ts';
import { followConfig } from './config-routines.ts';
import { failRoutine, handleRoutine } from './handle-routine.ts';
import { routineOperations } from './operations.ts';
import { answerZone, chooseZone, zonePrefix } from './person-zone.ts';
import { pressRoutine } from './press-routine.ts';
import { routineFooter } from './routine-footer.ts';
import type { RoutineTask } from './routine-message.ts';
import { routinePrefix } from './routine-buttons.ts';
import { routineToolRows, routineTools } from './routine-tools.ts';
import { routinesAtHome } from './show-routines.ts';
import { watchRoutines } from './watch-routines.ts';

/** Reminders, and what the bot does at set times (N1-N6). A person's time zone belongs to them (U20). */
export const routines = {
  create: createRoutinesFeature,
  tools: routineToolRows,
  commands: {
    routines: {
      menu: fixed`Reminders and what I do at set times`,
      alone: true,
      help: (write, say) => say`${write('routines')} shows reminders and what I do at set times`,
    },
  },
  atRest: (desk: Desk) => ({ operations: routineOperations(desk) }),
  checks: checkRoutines,
  reasons: {
    ROUTINE_UNUSABLE: {
      why: 'That routine of the config would never run.',
      fix: 'Write the time, the person or the chat as the message says.',
    },
  },
} satisfies FeatureKit;

export function createRoutinesFeature(app: App): Feature {
  const { store, log, runtime } = app;
  const watch = watchRoutines(app);
  return {
    name: 'routines',
    ...routines.atRest(app),
    async start() {
      await followConfig(runtime().config, app);
      watch.start();
    },
    stop: watch.stop,
    idle: watch.idle,
    follow: () =>
      followConfig(runtime().config, app).catch((error: unknown) =>
        log.error({ err: error }, 'could not store the routines of the config'),
      ),
    tasks: {
      routine: {
        handle: (given) => handleRoutine({ ...given, task: taskOf(given.message) }, app),
        giveUp: ({ key, message }, why) => failRoutine({ key, message, task: taskOf(message) }, why, app),
      },
    },
    async turn({ message, requester, key, whose }) {
      return {
        // An event from outside may not set up routines (S13).
        tools: message.task?.kind === 'hook' ? [] : routineTools(isOfRoutine(message.task), whose, app),
        footer: (entries) => routineFooter(doneCalls(entries), { turn: key, requester }, app),
      };
    },
    commands: {
      routines: (message, args) => answerRoutines(requesterOf(message), args, app),
      settings: {
        ...{ when: isOfZone, isMeant: isOfZone },
        async answer(message, args, { write }) {
          const { text, buttons } = await answerZone(zoneIn(args), requesterOf(message), app, write);
          return { text, more: { buttons } };
        },
      },
    },
    presses: {
      async [routinePrefix]({ press }, [action = '', id = '']) {
        const of = { press: press.id, requester: requesterOfPress(press) };
        const done = await pressRoutine(action, id, of, app);
        if ('refused' in done) return { told: done.refused };
        // The Home tab has no message to change: it lists the routines itself.
        if (press.receipt !== undefined || press.ephemeral === true) return done;
        return done.said === undefined ? undefined : { told: done.said };
      },
      async [zonePrefix]({ press }, [zone = '', ...asked]) {
        const text = await chooseZone(zone, requesterOfPress(press), app);
        const of = asked.join(':');
        // Others in a group choose theirs, and the question stays for who was asked.
        return of === '' || of === press.sender.id ? { text } : { told: text.replaceAll('`', '') };
      },
    },
    home: async ({ sender }) => ({
      top: await routinesAtHome(await store.routines.of(sender.id), sender, store.outbox),
    }),
  };
}

const ofZone = /^time[ _-]?zone(?:$|\s+)(.*)$/i;

function isOfZone(args: string): boolean {
  return ofZone.test(args);
}

function zoneIn(args: string): string {
  return ofZone.exec(args)?.[1] ?? '';
}

function taskOf({ task }: Message): RoutineTask {
  if (task?.kind !== 'routine') throw new Error('this item is not of a routine');
  return task;
}

function requesterOfPress({ sender, conversation, chatType, external }: Press): Requester {
  const { id, kind, name, language, timezone } = sender;
  return { conversation, chatType, external, sender: id, kind, name, language, timezone };
}
