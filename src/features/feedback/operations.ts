import { z } from 'zod';
import type { Desk } from '../../app.ts';
import { conversationKey } from '../../core/conversation.ts';
import { OperatorError } from '../../core/errors.ts';
import { changes, reads, target, textInput, unnamed } from '../../core/operation.ts';
import { englishOrigin } from '../../core/provenance.ts';
import { skilletHere } from '../../core/skillet-here.ts';
import type { Feedback } from '../../store/feedback.ts';
import { withoutPeople } from './without-people.ts';

/** What an operator sees of a thumb: no words but the reason, which its person gave to them. */
export type FeedbackRow = Readonly<{
  id: string;
  /** When it was given, in milliseconds since 1970. */
  at: number;
  thumb: Feedback['thumb'];
  sender: string;
  conversation: string;
  /** The platform's id of the answer. */
  message: string;
  /** `version` is the hash of the skill's files without its tests. */
  skills: Feedback['about']['skills'];
  model: string;
  tools: readonly string[];
  reason?: string;
  /** Whether its question and answer are kept, so that it can become a test by itself. */
  isComplete: boolean;
}>;

/** Characters of an answer's line that a test looks for. */
const longestLine = 200;

const filter = z
  .object({ skill: textInput.optional(), thumb: z.enum(['up', 'down']).optional() })
  .default({});
const tested = target.extend({ skill: textInput, file: textInput });

/** What operators can do about thumbs. */
export function feedbackOperations({ store, audit }: Desk) {
  const find = async (id: string): Promise<Feedback> => {
    const feedback = await store.feedback.find(id);
    if (feedback === undefined)
      throw new OperatorError(`there is no feedback ${id}: see \`${skilletHere()} feedback list\``);
    return feedback;
  };
  return {
    'feedback list': reads(filter, async ({ skill, thumb }) =>
      (await store.feedback.list())
        .filter((one) => thumb === undefined || one.thumb === thumb)
        .filter(({ about }) => skill === undefined || about.skills.some(({ name }) => name === skill))
        .map(toRow),
    ),
    /** What a test of a skill would hold, without names and addresses of people. */
    'feedback case': reads(textInput, async (id) => {
      const { thumb, reason, about } = await find(id);
      const { own } = about;
      return {
        ...{ id, thumb, skills: about.skills },
        reason: reason === undefined ? undefined : withoutPeople(reason),
        question: own && withoutPeople(own.question),
        answer: own && withoutPeople(own.answer),
        line: own && lineOf(own.answer),
        from: own && englishOrigin(own.from),
        isPrivate: own?.from.taint !== undefined,
      };
    }),
    /** Records that a thumb became a test. The command line has already written it. */
    'feedback tested': changes(tested, async ({ id, skill, file, by = unnamed }) => {
      await find(id);
      await audit.record({ event: 'feedback_tested', feedback: id, skill, file, by });
      return { tested: id };
    }),
  };
}

/** The first line of an answer with words in it that hides nobody, so that the same answer has it again. */
function lineOf(answer: string): string | undefined {
  const lines = answer.split('\n').map((line) => line.trim().slice(0, longestLine).toWellFormed());
  return lines.find((line) => /[\p{L}\p{N}]/u.test(line) && withoutPeople(line) === line);
}

function toRow({ id, at, thumb, sender, reason, about }: Feedback): FeedbackRow {
  const { conversation, message, skills, model, tools, own } = about;
  return {
    ...{ id, at, thumb, sender, conversation: conversationKey(conversation), message },
    ...{ skills, model, tools, reason, isComplete: own !== undefined },
  };
}
