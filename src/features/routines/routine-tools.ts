import { z } from 'zod';
import { conversationKey } from '../../core/conversation.ts';
import { fail, succeed, type Envelope } from '../../core/envelope.ts';
import { sayOrigin, type Provenance, type WhoseWords } from '../../core/provenance.ts';
import { fixed, sayIn } from '../../core/texts/say.ts';
import { prepareTool, readOnly, type Requester, type Tool } from '../../core/tool.ts';
import { catchUps } from '../../store/routines.ts';
import {
  addRoutine,
  changeRoutine,
  findHere,
  isHere,
  mayManage,
  pauseOrResume,
  removeRoutine,
  routineId,
  routinesHere,
} from './routine-book.ts';
import { isTooOften, type BookDeps, type Booked, type RoutineWish } from './define-routine.ts';
import { describeRoutine, nextWords, routinesReader } from './show-routines.ts';
import type { ToolRows } from '../../core/built-in-tools.ts';

/** How people see these tools and who is offered them (T2, T5). */
export const routineToolRows = {
  routine_add: {
    icon: '⏰',
    title: fixed`Routines`,
    says: fixed`Sets up reminders and tasks for later.`,
    doing: fixed`setting a reminder`,
    risk: 'safe',
    main: 'default',
    writes: 'bound',
    lasts: true,
  },
  routine_list: {
    icon: '⏰',
    title: fixed`List of routines`,
    says: fixed`Looks at what is set up.`,
    doing: fixed`looking at routines`,
    risk: 'safe',
    main: 'default',
    inner: true,
    writes: 'nothing',
  },
  routine_change: {
    icon: '⏰',
    title: fixed`Changing routines`,
    says: fixed`Changes or pauses what is set up.`,
    doing: fixed`changing a routine`,
    risk: 'safe',
    main: 'default',
    inner: true,
    writes: 'bound',
    lasts: true,
  },
  routine_remove: {
    icon: '⏰',
    title: fixed`Removing routines`,
    says: fixed`Removes what is set up.`,
    doing: fixed`removing a routine`,
    risk: 'safe',
    main: 'default',
    inner: true,
    writes: 'bound',
  },
} satisfies ToolRows;

/** Every request has these tools in it, so they use few words, each only once (M6). */
const wishes = {
  name: z.string().max(100).optional(),
  timezone: z.string().max(60).optional(),
  reminder: z.boolean().optional(),
  quiet: z.boolean().optional(),
  skill: z.string().max(100).optional(),
  catch_up: z.enum(catchUps).optional(),
};
const when = z.string();
const task = z.string().min(1).max(2_000);
const said = {
  when: when.describe(
    '"2026-12-24T18:00", "tomorrow at 9:00", "in 20 minutes", "every 2 weeks", "every monday at 9:00" or cron "0 9 * * 1-5"',
  ),
  task: task.describe('In the person’s words, complete by itself'),
  timezone: wishes.timezone.describe('IANA, if the person named a place'),
  reminder: wishes.reminder.describe('Only say the task'),
  quiet: wishes.quiet.describe('Speak only if there is something to report'),
  catch_up: wishes.catch_up.describe('After a downtime; default one'),
};
const id = z.string().min(1).max(100).describe('Id or name');
const changes = { ...readOnly, sideEffects: true };

const add = prepareTool({
  name: 'routine_add',
  row: routineToolRows.routine_add,
  description:
    'Reminds, or does a task here later or regularly, for this person. Tell them the next times it returns.',
  input: z.object({ ...wishes, ...said }),
  traits: changes,
  risk: 'safe',
});
const list = prepareTool({
  name: 'routine_list',
  row: routineToolRows.routine_list,
  description: 'Reminders and routines here.',
  input: z.object({}),
  traits: readOnly,
});
const change = prepareTool({
  name: 'routine_change',
  row: routineToolRows.routine_change,
  description: 'Changes, pauses or resumes one. Fields as in routine_add; what is left out stays.',
  input: z.object({
    id,
    when: when.optional(),
    task: task.optional(),
    ...wishes,
    state: z.enum(['active', 'paused']).optional(),
  }),
  traits: changes,
  risk: 'safe',
});
const remove = prepareTool({
  name: 'routine_remove',
  row: routineToolRows.routine_remove,
  description: 'Removes one.',
  input: z.object({ id }),
  traits: changes,
  risk: 'safe',
});

const noMore = fail(
  'TOOL_NOT_ALLOWED',
  'A routine can not set up or change routines. Tell the person what to ask for.',
);

/** The tools of a turn for routines (N2). `inRoutine`: a routine runs, and must not set up more of them (N3). */
export function routineTools(inRoutine: boolean, whose: WhoseWords, deps: BookDeps): readonly Tool[] {
  const assess = inRoutine ? async () => ({ refused: noMore }) : termsOf(whose, deps);
  return [
    {
      ...add(async (wish, { requester, turn, toolUseId, agreed }) => {
        const from = await wordsOf(wish, whose);
        if (isForeign(from) && agreed === undefined) return notAgreed;
        const booked = await addRoutine(routineId(turn, toolUseId), { ...wish, from }, requester, deps);
        return outcome(booked, 'Added', requester);
      }),
      assess,
    },
    list(async (_, { requester, addTaint }) => {
      const here = await routinesHere(requester, deps);
      const lines = await Promise.all(
        here.map(async (routine) => {
          const { from, conversation } = routine.definition;
          if (from?.taint !== undefined) addTaint(from.taint);
          const place = (await isHere(routine, requester, deps))
            ? ''
            : `\nIt lives in ${conversationKey(conversation)}: it can be changed only there.`;
          return `${await describeRoutine(routine, routinesReader(requester), deps.store.outbox)}${place}`;
        }),
      );
      return succeed(lines.length === 0 ? 'There are no routines here.' : lines.join('\n\n'));
    }),
    {
      ...change(async ({ id: named, state, ...wish }, { requester, agreed }) => {
        const found = await managed(named, requester, deps);
        if ('ok' in found) return found;
        const isOnlyState = Object.values(wish).every((value) => value === undefined);
        if (!isOnlyState && found.definition.creator.id !== requester.sender) return notTheirs;
        const from = await wordsOf(wish, whose);
        if (isForeign(from) && agreed === undefined) return notAgreed;
        const changed = isOnlyState
          ? undefined
          : await changeRoutine(found, { ...wish, from }, requester, deps);
        if (changed?.ok === false || state === undefined)
          return outcome(changed ?? { ok: true, routine: found }, 'Changed', requester);
        return outcome(
          await pauseOrResume(changed?.routine ?? found, state, requester, deps),
          'Changed',
          requester,
        );
      }),
      assess,
    },
    remove(async ({ id: named }, { requester }) => {
      const found = await managed(named, requester, deps);
      if ('ok' in found) return found;
      await removeRoutine(found.id, requester, deps);
      return succeed(`Removed the routine ${found.id} "${found.definition.name}".`);
    }),
  ];
}

const tooOften = 'It would run more often than every 15 minutes. An owner or an approver has to agree.';

/**
 * Times that are very often need an approver (N3). Words that the person did not type are shown to them first (S13).
 */
function termsOf(whose: WhoseWords, deps: BookDeps): NonNullable<Tool['assess']> {
  return async (input, { requester }) => {
    const wish = input as RoutineWish;
    const from = await wordsOf(wish, whose);
    const say = sayIn(requester.language);
    const origin = from === undefined ? undefined : sayOrigin(from, say);
    const words = origin === undefined ? undefined : say`Set this up? From: ${origin}.`;
    if (await isTooOften(wish, requester, deps)) {
      const because = [tooOften, ...(words === undefined ? [] : [words])].join('\n\n');
      return { mustConfirm: { shown: wish, refusedAs: 'LIMIT_REACHED', byApprover: true, because } };
    }
    return words === undefined
      ? {}
      : { mustConfirm: { shown: wish, refusedAs: 'TOOL_POLICY_DENIED', because: words } };
  };
}

const notAgreed = fail('TOOL_POLICY_DENIED', 'the person has to agree to these words first');
const notTheirs = fail(
  'TOOL_NOT_ALLOWED',
  'It speaks with the rights of the person who set it up, so only they can change what it says and when. An owner can pause, resume or remove it.',
);

function isForeign(from: Provenance | undefined): boolean {
  return from !== undefined && from.words !== 'typed';
}

/** Whose words the task and the name are. Undefined if the call sets neither. */
async function wordsOf(
  { task: words, name }: RoutineWish,
  whose: WhoseWords,
): Promise<Provenance | undefined> {
  if (words === undefined && name === undefined) return undefined;
  const of = await whose(words ?? name ?? '');
  return of.words !== 'typed' || words === undefined || name === undefined ? of : carriedBy(name, of, whose);
}

/**
 * A short title may be the model's, because it says little. A longer one could carry a message, so it is judged like
 * the task.
 */
async function carriedBy(name: string, of: Provenance, whose: WhoseWords): Promise<Provenance> {
  const title = await (name.length <= shortName ? whose(name, 'title') : whose(name));
  return title.words === 'typed' ? of : title;
}

const shortName = 24;

async function managed(named: string, requester: Requester, deps: BookDeps) {
  const found = await findHere(named, requester, deps);
  if (found === undefined)
    return fail('ARGUMENTS_INVALID', `There is no routine "${named}" here. routine_list says what there is.`);
  if (!(await isHere(found, requester, deps)))
    return fail(
      'TOOL_NOT_ALLOWED',
      `This routine lives in ${conversationKey(found.definition.conversation)}: it can be changed only there, or by the person with the buttons of /routines.`,
    );
  if (found.definition.fromConfig === true)
    return fail(
      'TOOL_NOT_ALLOWED',
      'This routine is set up in config.toml: only the operator of the bot can change it there.',
    );
  if (!(await mayManage(found, requester.sender, deps)))
    return fail('TOOL_NOT_ALLOWED', 'Only the person who set it up, or an owner of the bot, can change it.');
  return found;
}

function outcome(booked: Booked, did: string, requester: Requester): Envelope {
  if (!booked.ok) return fail(booked.code, booked.problem);
  const { routine } = booked;
  const { name, timezone, assumed } = routine.definition;
  const guess =
    assumed === undefined
      ? ''
      : ' Their time zone is not known, so this one is assumed: after your answer I ask them for theirs, and what they choose moves this routine.';
  const next = nextWords(routine, routinesReader(requester));
  const times = next.length === 0 ? `It is ${routine.state}.` : `Next: ${next.join('; ')}.`;
  return succeed(
    `${did} the routine ${routine.id} "${name}" (time zone ${timezone}). ${times}${next.length === 0 ? '' : ' Tell the person these times.'}${guess}`,
  );
}
