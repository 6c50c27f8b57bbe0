import { z } from 'zod';
import type { App } from '../../app.ts';
import { conversationKey } from '../../core/conversation.ts';
import { fail, type Envelope } from '../../core/envelope.ts';
import { expired, type PressEvent, type Pressed } from '../../core/feature.ts';
import type { Message } from '../../core/message.ts';
import { plainWord, questionCode } from '../../core/plain-words.ts';
import { fixed, sayIn, type Say } from '../../core/texts/say.ts';
import { whatToEnter } from '../../core/tool-settings.ts';
import type { ToolContext } from '../../core/tool.ts';
import { waitUntil } from '../../lib/async/wait-until.ts';
import { toSenderAlone } from '../../replies/replies.ts';
import type { JsonObject, PendingRequest } from '../../store/pending-requests.ts';
import { fillForm, readInputForm, type InputForm } from './input-form.ts';
import { InputNeeded, type InputAnswers, type InputResponse, type WantedInput } from './input-needed.ts';
import { createShowForm } from './show-form.ts';

/** The call that a server asks something for. `hash` is that of the tool's definition. */
type AskedFor = Readonly<{ server: string; tool: string; hash: string }>;

/** Makes a call, with answers to what the server asked before. Throws InputNeeded if it asks for something. */
type Attempt<Result> = (answers: InputAnswers | undefined) => Promise<Result>;

export type PersonInput = Readonly<{
  /** Makes a call and asks the person whatever its server asks for, until it answers. `refused`: it does not get that. */
  converse<Result>(
    of: AskedFor,
    context: ToolContext,
    attempt: Attempt<Result>,
  ): Promise<Result | Readonly<{ kind: 'input'; refused: Envelope }>>;
  /** Takes an answer in words. Returns false if the message is none. */
  takes(message: Message): Promise<boolean>;
  press(event: PressEvent, words: readonly string[]): Promise<Pressed>;
}>;

/** How long a person has for an answer, in milliseconds. Their conversation continues meanwhile. */
const answerWithinMs = 30 * 60_000;
/** How often, in milliseconds, to look for an answer in case its signal was lost. */
const lookEveryMs = 5_000;
/** How often a server may ask in one call, and how many forms it may ask for at once. */
const mostRounds = 5;
const mostForms = 3;
/** Milliseconds before a server that only wants to be asked again is asked again. */
const againMs = 1_000;
/** Characters of what is stored of a question, with what goes back to the server. */
const keptLimit = 64_000;

const kept = z.object({
  mcp: z.string(),
  tool: z.string(),
  hash: z.string(),
  wanted: z.object({ requests: z.record(z.string(), z.unknown()), state: z.string().optional() }),
  form: z.unknown(),
  language: z.string().optional(),
});
const response = z.union([
  z.object({ action: z.literal('accept'), content: z.record(z.string(), z.unknown()) }),
  z.object({ action: z.literal('decline') }),
]);
const closed = fixed`I no longer wait for that answer. Please ask me again.`;
/** A code, perhaps with a word before it, and the answer behind it. */
const coded = /^\s*`?(?:([\p{L}\p{M}]+)\s+)?([2-9A-HJKMNP-Z]{8})`?(?:[\s:]+([^]*))?$/iu;

/**
 * Asks people what servers ask for in the middle of a call (X9). Questions are stored, so that any process can take the
 * answer, and a call that was cut off while it waited finds its question again. The model never sees what was asked or
 * answered, and can't answer for the person.
 */
export function createPersonInput(app: App): PersonInput {
  const { store, clock } = app;
  const ask = createAsk(app);

  /** The last question of a call that was cut off while it waited, and what its server wanted. */
  async function resumed(of: AskedFor, context: ToolContext) {
    let last: Readonly<{ asked: number; wanted: WantedInput }> | undefined;
    for (let asked = 0; asked < mostRounds; asked++) {
      const request = await store.pendingRequests.find(idOf(context, asked, 0));
      const found = kept.safeParse(request?.payload).data;
      if (found === undefined || found.tool !== of.tool || found.hash !== of.hash) break;
      last = { asked, wanted: found.wanted };
    }
    return last;
  }

  return {
    async converse(of, context, attempt) {
      const before = await resumed(of, context);
      let wanted = before?.wanted;
      let asked = before?.asked ?? 0;
      let answers: InputAnswers | undefined;
      for (let round = asked; round <= mostRounds; round++) {
        if (wanted === undefined)
          try {
            return await attempt(answers);
          } catch (error) {
            if (!(error instanceof InputNeeded)) throw error;
            wanted = error.wanted;
          }
        if (round === mostRounds) break;
        if (Object.keys(wanted.requests).length === 0) {
          answers = { responses: {}, state: wanted.state };
          await clock.sleep(againMs, context.signal);
        } else {
          const given = await ask({ ...of, wanted, asked }, context);
          if ('refused' in given) return { kind: 'input', ...given };
          answers = given;
          asked += 1;
        }
        wanted = undefined;
      }
      return refusal(
        'TOOL_FAILED',
        of,
        `asked more than ${mostRounds} times before it answered: it was given up`,
      );
    },
    ...createTakeInput(app),
  };
}

function refusal(code: 'TOOL_FAILED' | 'TIMEOUT' | 'CANCELLED', { server }: AskedFor, why: string) {
  return { kind: 'input', refused: fail(code, `the MCP server ${JSON.stringify(server)} ${why}`) } as const;
}

function idOf({ turn, toolUseId }: ToolContext, asked: number, at: number): string {
  return questionCode(JSON.stringify(['mcp input', turn, toolUseId, asked, at]));
}

/** Makes the function that waits for the answer to a question. */
function createAnswerTo({ store, clock, stopping }: App) {
  return (id: string, signal: AbortSignal): Promise<InputResponse | 'late' | 'stopped'> =>
    waitUntil<InputResponse | 'late' | 'stopped'>(
      async () => {
        const request = await store.pendingRequests.find(id);
        if (request?.state === 'answered')
          return { found: response.parse(JSON.parse(request.answer?.value ?? 'null')) };
        if (request === undefined || request.state === 'cancelled') return { found: 'stopped' };
        const left = request.expiresAt - clock.now();
        if (request.state === 'expired' || left <= 0) return { found: 'late' };
        return Math.max(1, Math.min(left, lookEveryMs));
      },
      {
        signal: AbortSignal.any([signal, stopping]),
        clock,
        subscribe: (wake) =>
          store.signals.on('answer', (answered) => {
            if (answered === id) wake();
          }),
      },
    );
}

/** Makes the function that asks for all forms of one round, one after the other. */
function createAsk(app: App) {
  const { store, clock, workStates } = app;
  const show = createShowForm(app);
  const answerTo = createAnswerTo(app);

  return async (
    of: AskedFor & Readonly<{ wanted: WantedInput; asked: number }>,
    context: ToolContext,
  ): Promise<InputAnswers | Readonly<{ refused: Envelope }>> => {
    const { server, tool, hash, wanted, asked } = of;
    const { requester, toolUseId, run, signal } = context;
    const requests = Object.entries(wanted.requests);
    const forms = requests.map(([key, request]) => ({ key, request, read: readInputForm(request) }));
    if (forms.length > mostForms || JSON.stringify(wanted).length > keptLimit)
      return refusal('TOOL_FAILED', of, 'asked for too much at once: nothing was asked of the person');
    const bad = forms.flatMap(({ read }) => (read.ok ? [] : [read.problem]));
    if (bad[0] !== undefined)
      return refusal(
        'TOOL_FAILED',
        of,
        `asked for something before it answers, and the host refused: ${bad[0]}`,
      );
    return context.waits(() =>
      workStates.asking(requester.conversation, async () => {
        const responses: Record<string, InputResponse> = {};
        for (const [at, { key, request, read }] of forms.entries()) {
          if (!read.ok) continue;
          const id = idOf(context, asked, at);
          const now = clock.now();
          const payload = { mcp: server, tool, hash, wanted, form: request, language: requester.language };
          await store.pendingRequests.add({
            ...{ id, kind: 'question', toolUseId, transcript: '', payload: payload as JsonObject },
            ...{ conversation: requester.conversation, requester: requester.sender },
            ...{ askedAt: now, expiresAt: now + answerWithinMs },
          });
          if ((await store.pendingRequests.find(id))?.state === 'open')
            await show({ id, server, tool, form: read.form }, requester, now);
          if (run !== undefined) await store.signals.send('asking', run.id);
          const answer = await answerTo(id, signal);
          if (answer === 'late')
            return refusal('TIMEOUT', of, 'asked the person something, and they did not answer in time');
          if (answer === 'stopped')
            return refusal('CANCELLED', of, 'asked the person something, and they stopped');
          responses[key] = answer;
        }
        return { responses, state: wanted.state };
      }),
    );
  };
}

type Open = Readonly<{ request: PendingRequest; server: string; form: InputForm }>;

/** The question of this id, if it is one of a server to this person. */
async function openFor(id: string, person: string, { store }: App): Promise<Open | undefined> {
  const request = await store.pendingRequests.find(id);
  if (request?.kind !== 'question' || request.requester !== person) return undefined;
  const found = kept.safeParse(request.payload).data;
  const read = found && readInputForm(found.form);
  return found !== undefined && read?.ok === true
    ? { request, server: found.mcp, form: read.form }
    : undefined;
}

/** Makes the functions that take answers. Only the person for whom the call is made is heard. */
function createTakeInput(app: App): Omit<PersonInput, 'converse'> {
  const { store, replies, clock, log } = app;

  /** Stores an answer, and returns what to tell the person. */
  async function give(open: Open, by: string, given: InputResponse, say: Say): Promise<string> {
    const { id } = open.request;
    const answer = { by, value: JSON.stringify(given), at: clock.now() };
    if ((await store.pendingRequests.answer(id, answer)) !== 'answered') return say(closed);
    await store.signals.send('answer', id);
    log.info(
      { request: id, server: open.server, action: given.action },
      'a question of an MCP server was answered',
    );
    const server = `\`${open.server}\``;
    return given.action === 'accept'
      ? say`I passed your answer on to ${server}.`
      : say`I told ${server} that you do not answer.`;
  }

  return {
    async takes(message) {
      const { sender, conversation, chatType } = message;
      const [, word = '', code = '', written = ''] = coded.exec(message.text.normalize('NFC')) ?? [];
      const open = code === '' ? undefined : await openFor(code.toUpperCase(), sender.id, app);
      if (open === undefined) return false;
      const isHere = conversationKey(open.request.conversation) === conversationKey(conversation);
      if (chatType !== 'private' && !isHere) return false;
      const say = sayIn(sender.language);
      const tell = async (text: string): Promise<true> => {
        await replies.answer(message, text, toSenderAlone(message));
        return true;
      };
      if (open.request.state !== 'open') return tell(say(closed));
      if (plainWord(word) === 'no') return tell(await give(open, sender.id, { action: 'decline' }, say));
      const filled = fillForm(open.form, written.replace(/`\s*$/, '').trim(), say);
      if (filled.ok)
        return tell(await give(open, sender.id, { action: 'accept', content: filled.content }, say));
      const { field } = filled;
      return tell(
        field === undefined
          ? say`I could not read that. Write one line for each field, such as ${`\`${open.form.fields[0]?.key ?? ''}: …\``}.`
          : `${field.title}: ${whatToEnter(field, say)}.`,
      );
    },
    async press({ press: { sender } }, [id = '', choice = '']) {
      const say = sayIn(sender.language);
      const open = await openFor(id, sender.id, app);
      if (open === undefined) return { told: say(expired) };
      const option = open.form.fields[0]?.options[Number(choice)];
      const filled = option && fillForm(open.form, option.value, say);
      if (choice !== 'no' && filled?.ok !== true) return { told: say(expired) };
      const given: InputResponse =
        filled?.ok === true ? { action: 'accept', content: filled.content } : { action: 'decline' };
      return { text: await give(open, sender.id, given, say) };
    },
  };
}
