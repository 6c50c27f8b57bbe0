import { argument, command, filled, flag, gather, option } from '../command.ts';

const about = 'an id from `skillet feedback list`';
const ofSkill = option('name', 'only of answers for which this skill was used');
const onlyDown = flag('only thumbs down');

/** Commands for what people think of answers (U17). */
export const feedbackCommands = [
  command({
    name: 'feedback list',
    about: 'list thumbs under answers, with what was wrong',
    options: { skill: ofSkill, down: onlyDown },
    examples: ['skillet feedback list --down --skill dice'],
    needs: 'bot',
    json: true,
    run: async (given) => (await import('../feedback.ts')).listFeedback(given),
  }),
  command({
    name: 'feedback export',
    about: 'print thumbs as JSON, one a line, for other programs',
    options: { skill: ofSkill, down: onlyDown },
    examples: ['skillet feedback export > feedback.jsonl'],
    needs: 'bot',
    run: async (given) => (await import('../feedback.ts')).exportFeedback(given),
  }),
  command({
    name: 'feedback to-test',
    about:
      'write a thumb down as a test of its skill, after you have read it; the test fails until the skill is better',
    args: { id: argument(about) },
    options: {
      skill: option('name', 'the skill, if several were used, or another one should have been'),
      message: option<string | undefined>('text', 'what the person says in the test, in your words', {
        read: filled,
      }),
      contains: option<readonly string[] | undefined>('text', 'what a right answer has in it (repeatable)', {
        read: gather,
      }),
      lacks: option<readonly string[] | undefined>('text', 'what a right answer does not have (repeatable)', {
        read: gather,
      }),
      yes: flag('do not ask first'),
    },
    examples: ['skillet feedback to-test 1f0c9a7be2d4 --contains "14:30"'],
    needs: 'bot',
    run: async (given) => (await import('../feedback.ts')).feedbackToTest(given),
  }),
];
