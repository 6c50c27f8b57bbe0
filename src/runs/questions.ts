import { z } from 'zod';
import type { ToolRows } from '../core/built-in-tools.ts';
import { fixed } from '../core/texts/say.ts';
import type { Clock } from '../lib/clock.ts';
import { conversationKey, type Conversation } from '../core/conversation.ts';
import type { Entry } from '../core/entry.ts';
import { fail, succeed } from '../core/envelope.ts';
import { defineTool, readOnly, type Requester, type Tool } from '../core/tool.ts';
import type { PendingRequest } from '../store/pending-requests.ts';
import type { Store } from '../store/store.ts';
import { runJournal } from './run-journal.ts';

/** How people see the tool and who is offered it (T2, T5). */
export const questionRows = {
  ask_person: {
    icon: '❓',
    title: fixed`Questions`,
    says: fixed`Asks you something and continues with your answer.`,
    doing: fixed`asking you a question`,
    risk: 'safe',
    runs: 'kept',
    writes: 'here',
  },
} satisfies ToolRows;

export type Question = Readonly<{ run: string; skill: string; question: string }>;

/** Questions that runs ask people, stored until they are answered (U14). */
export type Questions = Readonly<{
  /** Makes the tool that asks a question; it ends the run's loop with `needs_input`. */
  tool(of: Readonly<{ run: string; skill: string; transcript: string }>): Tool;
  /** Questions of this transcript's runs that wait for this person here. */
  open(
    of: Readonly<{ conversation: Conversation; sender: string; transcript: string }>,
  ): Promise<readonly Question[]>;
  /**
   * Stores the answer for `call`, the call that resumes the run. Returns false if the run asked this person nothing, or
   * another call has answered it.
   */
  take(
    of: Readonly<{ transcript: string; skill: string; requester: Requester; call: string }>,
    answer: string,
  ): Promise<boolean>;
}>;

/** A question can be answered for 30 minutes; after that it no longer resumes its run (U14). */
const answerWithinMs = 30 * 60_000;
const toolName = 'ask_person';
const written = z.object({ question: z.string().trim().min(1).max(2_000) });
/** Claude Code's AskUserQuestion, which asks several questions with options to choose from. */
const withOptions = z.object({
  questions: z.array(
    z.object({
      question: z.string(),
      options: z.array(z.object({ label: z.string(), description: z.string().optional() })).optional(),
    }),
  ),
});
const input = z.preprocess(asOneQuestion, written);

function asOneQuestion(given: unknown): unknown {
  const asked = withOptions.safeParse(given);
  if (!asked.success) return given;
  const question = asked.data.questions.flatMap(({ question, options = [] }) => [
    question,
    ...options.map(({ label, description }) => `- ${label}${description ? `: ${description}` : ''}`),
  ]);
  return { question: question.join('\n') };
}

type Deps = Readonly<{
  store: Readonly<{
    pendingRequests: Store['pendingRequests'];
    transcripts: Store['transcripts'];
  }>;
  clock: Clock;
}>;

export function createQuestions(deps: Deps): Questions {
  const { pendingRequests, transcripts } = deps.store;
  const { clock } = deps;

  async function findFor(transcript: string, call: string): Promise<PendingRequest | undefined> {
    const { entries } = await transcripts.read(transcript);
    const ids = callIds(entries.map(({ entry }) => entry)).map((id) => questionId(transcript, id));
    const asked = await Promise.all(ids.map((id) => pendingRequests.find(id)));
    const known = asked.filter((request) => request !== undefined);
    return (
      known.find(({ answer }) => answer?.call === call) ??
      known.findLast((request) => isOpen(request, clock.now()))
    );
  }

  return {
    tool: (of) => questionTool(of, deps),
    async open({ conversation, sender, transcript }) {
      const here = (await pendingRequests.open(conversation)).filter(
        (request) =>
          request.kind === 'question' && request.requester === sender && isOpen(request, clock.now()),
      );
      return here.flatMap((request) => {
        const payload = asked.safeParse(request.payload);
        if (!payload.success || request.transcript !== runJournal(transcript, payload.data.run)) return [];
        return [payload.data];
      });
    },
    async take({ transcript, skill, requester, call }, answer) {
      const request = await findFor(transcript, call);
      const here = conversationKey(requester.conversation);
      if (
        request?.requester !== requester.sender ||
        conversationKey(request.conversation) !== here ||
        request.payload['skill'] !== skill
      )
        return false;
      if (request.answer?.call === call) return true;
      const given = { by: requester.sender, value: answer, at: clock.now(), call };
      return (await pendingRequests.answer(request.id, given)) === 'answered';
    },
  };
}

function questionTool(
  { run, skill, transcript }: Parameters<Questions['tool']>[0],
  { store: { pendingRequests }, clock }: Deps,
): Tool {
  return defineTool({
    name: toolName,
    row: questionRows.ask_person,
    description:
      'Asks the person you work for what only they can know or decide. You go on when they have answered: ask everything at once.',
    input,
    // A call that is repeated after a crash does not ask a second time.
    traits: { ...readOnly, sideEffects: true },
    risk: 'safe',
    async run({ question }, { requester, toolUseId, awaitAnswer }) {
      const id = questionId(transcript, toolUseId);
      const now = clock.now();
      await pendingRequests.add({
        id,
        kind: 'question',
        conversation: requester.conversation,
        requester: requester.sender,
        transcript,
        toolUseId,
        payload: { run, skill, question },
        askedAt: now,
        expiresAt: now + answerWithinMs,
      });
      const request = await pendingRequests.find(id);
      if (request?.answer !== undefined) {
        return succeed(`They answered: ${request.answer.value}`);
      }
      if (request === undefined || !isOpen(request, clock.now()))
        return fail('TIMEOUT', 'they did not answer: do the best without it, and say what is missing');
      awaitAnswer(question);
      return succeed('asked');
    },
  });
}

function isOpen({ state, expiresAt }: PendingRequest, now: number): boolean {
  return state === 'open' && expiresAt > now;
}

const asked = z.object({ run: z.string(), skill: z.string(), question: z.string() });

function questionId(transcript: string, toolUseId: string): string {
  return `question:${transcript}:${toolUseId}`;
}

function callIds(entries: readonly Entry[]): readonly string[] {
  return entries.flatMap((entry) =>
    entry.kind === 'assistant'
      ? entry.content.flatMap((block) =>
          block.type === 'tool_use' && block.name === toolName ? [block.id] : [],
        )
      : [],
  );
}
