import type { Press } from '../../core/channel.ts';
import type { Feature } from '../../core/feature.ts';
import { doneCalls } from '../../agent/next-step.ts';
import { isOfRoutine, requesterOf } from '../../core/message.ts';
import type { Requester } from '../../core/tool.ts';
import { answerRoutines } from '../../routines/answer-routines.ts';
import type { BookDeps } from '../../routines/define-routine.ts';
import { chooseZone, zonePrefix } from '../../routines/person-zone.ts';
import { pressRoutine } from '../../routines/press-routine.ts';
import { routineFooter } from '../../routines/routine-footer.ts';
import { routineTools } from '../../routines/routine-tools.ts';
import { routinePrefix } from '../../routines/routine-buttons.ts';

/** Reminders, and what the bot does at set times (N1-N6). */
export function routinesFeature({ routines }: { routines: BookDeps }): Feature {
  return {
    name: 'routines',
    async turn({ message, requester, key, whose }) {
      return {
        // An event from outside may not set up routines (S13).
        tools: message.task?.kind === 'hook' ? [] : routineTools(isOfRoutine(message.task), whose, routines),
        footer: (entries) => routineFooter(doneCalls(entries), { turn: key, requester }, routines),
      };
    },
    commands: { routines: (message, args) => answerRoutines(requesterOf(message), args, routines) },
    presses: {
      async [routinePrefix]({ press }, [action = '', id = '']) {
        const of = { press: press.id, requester: requesterOfPress(press) };
        const done = await pressRoutine(action, id, of, routines);
        if ('refused' in done) return { told: done.refused };
        // The Home tab has no message to change: it lists the routines itself.
        if (press.receipt !== undefined || press.ephemeral === true) return done;
        return done.said === undefined ? undefined : { told: done.said };
      },
      async [zonePrefix]({ press }, [zone = '', ...asked]) {
        const text = await chooseZone(zone, requesterOfPress(press), routines);
        const of = asked.join(':');
        // Others in a group choose theirs, and the question stays for who was asked.
        return of === '' || of === press.sender.id ? { text } : { told: text.replaceAll('`', '') };
      },
    },
  };
}

function requesterOfPress({ sender, conversation, chatType, external }: Press): Requester {
  const { id, kind, name, language, timezone } = sender;
  return { conversation, chatType, external, sender: id, kind, name, language, timezone };
}
