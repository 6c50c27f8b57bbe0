import type { StartCode } from '../check-start.ts';
import type { FindingReason } from '../../features/kit.ts';

/** Why what `start` refuses or warns about matters, and what to do about it. */
export const startReasons: Readonly<Record<StartCode, FindingReason>> = {
  TOKEN_FORM: {
    why: 'The platform refuses such a token.',
    fix: 'Copy the token again from the page in the message.',
  },
  TOKENS_SWAPPED: {
    why: 'Slack refuses both tokens.',
    fix: 'Swap the two values in the config or in .env.',
  },
  SECRETS_READABLE: {
    why: 'Anybody who reads a token can act as your bot.',
    fix: 'Run `skillet doctor --fix`, or chmod 600 that file.',
  },
  CHANGEABLE_BY_OTHERS: {
    why: 'Anybody who changes the config or a skill decides what the bot runs.',
    fix: 'Run `skillet doctor --fix`, or chmod go-w what the message names.',
  },
  MODEL_WITHOUT_KEY: {
    why: 'People who write to the bot get an apology instead of an answer.',
    fix: 'Write ANTHROPIC_API_KEY or OPENAI_API_KEY into .env, or api_key or base_url into the config.',
  },
  MODEL_PACKAGE: {
    why: 'The bot does not start, because that model could never answer.',
    fix: 'Install the package that the message names, or write another api.',
  },
  PROGRAM_MISSING: {
    why: 'That server has no tools until its program is installed.',
    fix: 'Install the program, or write its full path.',
  },
  WORKSPACE_UNUSABLE: {
    why: 'Skills, received files and folders of chats need a place.',
    fix: 'Let this user write to the folder, or write another one into [bot] workspace.',
  },
  TEMPORARY_UNUSABLE: {
    why: 'Commands of skills and their connections need a place for temporary files.',
    fix: 'Create the folder, or set TMPDIR in the environment of the bot.',
  },
  PORT_UNUSABLE: {
    why: 'The bot does not start if it can’t listen there.',
    fix: 'Stop the other program (`ss -ltnp` names it), or write another port.',
  },
};
