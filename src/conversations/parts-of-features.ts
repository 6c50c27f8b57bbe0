import type {
  AnswerCommand,
  AnswerPress,
  CommandHandler,
  Feature,
  Footer,
  HandleTask,
  NewTurn,
  StoppedWork,
  TurnPart,
} from '../core/feature.ts';
import type { Message, Task } from '../core/message.ts';

/** The parts that all features bring, each looked up by what it answers. */
export type FeatureParts = Readonly<{
  all: readonly Feature[];
  /** Names of commands that a feature answers for any words behind them. */
  commands: readonly string[];
  /** Who answers a command with these words behind it. Undefined: no feature does. */
  command(name: string, args: string): AnswerCommand | undefined;
  /** Whether the words after a mention without a mark mean a command, because they may hold a secret. */
  isMeant(name: string, args: string): boolean;
  press(prefix: string): AnswerPress | undefined;
  task(kind: Task['kind']): HandleTask | undefined;
  /** The message without words that must be kept nowhere. Undefined: a feature took it. */
  withoutSecrets(message: Message): Promise<Message | undefined>;
  /** Whether a feature waited for this message and took it. */
  take(message: Message, isAddressed: boolean): Promise<boolean>;
  stopped(of: StoppedWork): Promise<void>;
}>;

/** Throws if two features answer to the same name. A command may have further answers for certain words behind it. */
export function partsOfFeatures(all: readonly Feature[]): FeatureParts {
  const presses = tableOf(all.flatMap(({ presses: own = {} }) => Object.entries(own)));
  const tasks = tableOf(all.flatMap(({ tasks: own = {} }) => Object.entries(own)));
  const commands = new Map<string, readonly CommandHandler[]>();
  for (const feature of all)
    for (const [name, given] of Object.entries(feature.commands ?? {}))
      commands.set(name, [
        ...(commands.get(name) ?? []),
        typeof given === 'function' ? { answer: given } : given,
      ]);
  for (const [name, list] of commands)
    if (list.filter(({ when }) => when === undefined).length > 1)
      throw new Error(`two features answer the command ${name}`);
  const named = (name: string): readonly CommandHandler[] => commands.get(name) ?? [];
  return {
    all,
    commands: [...commands].flatMap(([name, list]) =>
      list.some(({ when }) => when === undefined) ? [name] : [],
    ),
    command: (name, args) =>
      (named(name).find(({ when }) => when?.(args)) ?? named(name).find(({ when }) => when === undefined))
        ?.answer,
    isMeant: (name, args) => named(name).some(({ isMeant }) => isMeant?.(args) === true),
    press: (prefix) => presses.get(prefix),
    task: (kind) => tasks.get(kind),
    async withoutSecrets(given) {
      let message: Message | undefined = given;
      for (const { takes } of all) {
        if (message === undefined || takes?.secret === undefined) continue;
        message = await takes.secret(message);
      }
      return message;
    },
    async take(message, isAddressed) {
      for (const { takes } of all) if ((await takes?.answer?.(message, isAddressed)) === true) return true;
      return false;
    },
    async stopped(of) {
      for (const feature of all) await feature.stopped?.(of);
    },
  };
}

function tableOf<Value>(rows: readonly (readonly [string, Value])[]): ReadonlyMap<string, Value> {
  const table = new Map(rows);
  if (table.size < rows.length) throw new Error('two features answer to the same name');
  return table;
}

/** What all features bring to one turn, in their order. */
export async function turnPartsOf(features: readonly Feature[], turn: NewTurn): Promise<Required<TurnPart>> {
  const found = await Promise.all(features.map(async (feature) => feature.turn?.(turn)));
  const parts = found.filter((part) => part !== undefined);
  return {
    tools: parts.flatMap(({ tools = [] }) => tools),
    async notes(before) {
      const all = await Promise.all(parts.map(async (part) => part.notes?.(before)));
      return all.find((notes) => notes !== undefined);
    },
    async searchable(entry, before) {
      return (await Promise.all(parts.map(async (part) => part.searchable?.(entry, before) ?? []))).flat();
    },
    async footer(entries) {
      const all: Footer[] = [];
      for (const part of parts) if (part.footer !== undefined) all.push(await part.footer(entries));
      return {
        text: all.map(({ text }) => text).join(''),
        question: all.find(({ question }) => question !== undefined)?.question,
      };
    },
    async rateable(entries) {
      const all = await Promise.all(parts.map(async (part) => part.rateable?.(entries)));
      return all.find((rateable) => rateable !== undefined);
    },
  };
}
