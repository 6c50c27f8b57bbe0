import type { IncomingMessage } from 'node:http';
import type { AskPeople } from './approval.ts';
import type { WatchMoney } from './budget.ts';
import type { Button, ChannelEvent, Filled, Visit, Home } from './channel.ts';
import type { OpenForm } from './form.ts';
import type { Conversation } from './conversation.ts';
import type { HookAnswer } from './hook-answer.ts';
import type { Entry, Taint } from './entry.ts';
import type { Operations } from './operation.ts';
import type { LinkState, ServerState } from './server-state.ts';
import type { SearchableText } from './memory.ts';
import type { Message, Sender, Task as MessageTask } from './message.ts';
import type { Privately } from './privately.ts';
import type { WhoseWords } from './provenance.ts';
import type { MadeWith, Thumbs } from './rating.ts';
import type { Skill } from './skill.ts';
import type { OutsideSource, Requester, Tool } from './tool.ts';
import type { WebPage } from './web-page.ts';
import { fixed, type Say } from './texts/say.ts';

type TaskKind = MessageTask['kind'];

export type PressEvent = Extract<ChannelEvent, { type: 'press' }>;

/**
 * What came of a press. `text` takes the place of the message with the button, and only the person who pressed reads
 * `told`. Undefined if the message shows it already, or if there is nothing to say.
 */
export type Pressed = Readonly<
  { text: string; buttons?: readonly Button[] | undefined } | { told: string }
> | void;

/**
 * Answers a press on a button whose action is `PREFIX:WORDS`. The presser may use the bot; whether they may do this is for
 * the feature to judge, because anybody in a chat can press.
 */
export type AnswerPress = (event: PressEvent, words: readonly string[]) => Promise<Pressed>;

/**
 * How an answer is sent: `replyTo` is the platform's id of the message that it answers, `onlyTo` the only person who
 * sees it, and `privately` how that is done.
 */
export type ReplyOptions = Readonly<{
  buttons?: readonly Button[];
  replyTo?: string;
  onlyTo?: string;
  privately?: Privately;
  made?: MadeWith;
  thumbs?: Thumbs;
}>;

/** The answer to a command. If `text` is empty, nothing is sent, because something else tells what was done. */
export type CommandAnswer = Readonly<{ text: string; more?: ReplyOptions }>;

/**
 * Answers `/NAME args`. `write` names a command as people type it in this chat. Undefined if the command is answered in
 * its turn in the queue.
 */
export type AnswerCommand = (
  message: Message,
  args: string,
  asked: Readonly<{ write: (name: string, args?: string) => string; openForm?: OpenForm | undefined }>,
) => Promise<CommandAnswer | undefined>;

/** A command of which this feature answers only a part, or which counts without a mark. */
export type CommandHandler = Readonly<{
  answer: AnswerCommand;
  /** For which words behind the command it answers; another feature answers the rest. Undefined: for all. */
  when?(args: string): boolean;
  /** Whether these words mean the command also after a mention without a mark, because they may hold a secret. */
  isMeant?(args: string): boolean;
}>;

/** A turn of the main agent that is about to begin. `key` is the key of its item in the inbox. */
export type NewTurn = Readonly<{
  message: Message;
  requester: Requester;
  transcript: string;
  key: string;
  whose: WhoseWords;
}>;

/** What the model is told with a message. `taint`: what private data is in it. */
export type Notes = Readonly<{ text: string; taint: Taint | undefined }>;

/** Words below an answer, and a question of its own behind it. */
export type Footer = Readonly<{
  text: string;
  question?: Readonly<{ text: string; buttons: readonly Button[] }> | undefined;
}>;

/** How people can rate an answer, and what their rating keeps (U17). */
export type Rateable = Readonly<{ made: MadeWith; thumbs?: Thumbs | undefined }>;

/** What a feature brings to one turn. */
export type TurnPart = Readonly<{
  /** Offered if `[agent] tools` names them. */
  tools?: readonly Tool[];
  /** Told with the message. Undefined: the model knows it from the entries `before`. */
  notes?(before: readonly Entry[]): Promise<Notes | undefined>;
  /** What of a new entry can be found later; `all` are the entries before it. */
  searchable?(entry: Entry, all: readonly Entry[]): Promise<readonly SearchableText[]>;
  /** `entries` are those of this turn, once it is answered. */
  footer?(entries: readonly Entry[]): Promise<Footer>;
  /** Called like `footer`, if the agent ended the turn with an answer. Undefined: nobody can rate it. */
  rateable?(entries: readonly Entry[]): Promise<Rateable | undefined>;
}>;

/** What a message may be to a feature before it is stored. */
export type Takes = Readonly<{
  /**
   * Sees each message before anything is decided, stored or logged. Returns it without words that must be kept nowhere.
   * Undefined: the feature took it, and it goes no further.
   */
  secret?(message: Message): Promise<Message | undefined>;
  /**
   * Takes what the feature waits for from a person who may act here. `isAddressed` is false if the message is not meant
   * for the bot as far as is known. Returns whether it was taken; then it goes no further.
   */
  answer?(message: Message, isAddressed: boolean): Promise<boolean>;
}>;

/** What a person stopped: everything of theirs in this conversation. `cancelled` are ids of pending requests. */
export type StoppedWork = Readonly<{
  sender: string;
  conversation: Conversation;
  cancelled: readonly string[];
}>;

/** An item of the queue that a feature put there. It may be handled again at any point after a crash (Q5). */
export type QueuedTask = Readonly<{
  key: string;
  message: Message;
  /** Whether work on it began before, and was cut off. */
  wasStarted: boolean;
  /**
   * Lets the main agent take a turn on `message`, unseen until it is done. `skill` runs with the text as its arguments.
   */
  think(
    message: Message,
    skill: string | undefined,
  ): Promise<Readonly<{ text: string; failed: boolean; rateable?: Rateable | undefined }>>;
}>;

/** How a kind of task is handled. */
export type HandleTask = Readonly<{
  handle(task: QueuedTask): Promise<void>;
  /** Called when the task has failed for good. `why` is the sentence for people. May be repeated. */
  giveUp(task: Pick<QueuedTask, 'key' | 'message'>, why: string): Promise<void>;
}>;

/** A skill's run that is about to begin. `named` are the tools that its list of allowed tools names, if it has one. */
export type NewRun = Readonly<{
  skill: Skill;
  requester: Requester;
  run: string;
  transcript: string;
  named: readonly string[] | undefined;
  whose: WhoseWords;
}>;

/** What a person in a chat is asked about, by `/why PERSON [CHAT] [SKILL]`. */
export type WhyAsked = Readonly<{ who: string; where: string | undefined; skill: string | undefined }>;

/** What a feature does for operators, with a running bot and without one. */
export type AtRest = Readonly<{
  /** Rows of the table of operations: command line, control socket, dashboard. */
  operations?: Operations;
  /** Removes what is kept about a person (Q12). Returns how much there was of each kind that is counted. */
  forget?(sender: string): Promise<Readonly<Record<string, number>> | void>;
  /** Hashes of tools' definitions by the tools' names, for tools that others can change (X7). */
  definitionHashes?(): Promise<ReadonlyMap<string, string>>;
  /** States of servers that bring tools. */
  servers?(): Promise<readonly ServerState[]>;
}>;

/** An optional part of the bot: a folder of `features/` and a line of `features/list.ts`. */
export type Feature = AtRest &
  Readonly<{
    name: string;
    /** Answers to chat commands by their names. The feature's folder exports their rows, see `features/kit.ts`. */
    commands?: Readonly<Record<string, AnswerCommand | CommandHandler>>;
    /** Buttons by the first word of their action. */
    presses?: Readonly<Record<string, AnswerPress>>;
    /** Takes a filled form. Undefined: done. Otherwise what is wrong, by the key of the field. */
    form?(filled: Filled): Promise<Readonly<Record<string, string>> | undefined>;
    takes?: Takes;
    /** Asks people about risky calls. At most one feature does. */
    ask?: AskPeople;
    /** Asks for money and warns about it. At most one feature does. */
    money?: WatchMoney;
    /** Called for `/stop` and `/new`, after the work itself was stopped. */
    stopped?(of: StoppedWork): Promise<void>;
    tasks?: Readonly<Partial<Record<TaskKind, HandleTask>>>;
    /** Called once before each turn, also when it resumes after a crash. Undefined: nothing for this turn. */
    turn?(turn: NewTurn): Promise<TurnPart | undefined>;
    /** The tools for a skill's run. */
    run?(run: NewRun): Promise<readonly Tool[]>;
    /** Names of the feature's tools that are of no use to a person who may use these skills; `/tools` leaves them out. */
    withoutUse?(skills: readonly Skill[]): readonly string[];
    /** Tools from outside of the bot, offered to the main agent and to runs by rules of their own (X1, X7). */
    outside?: OutsideSource;
    /** States of connections by the names of servers, without asking the store (L4). */
    links?(): Readonly<Record<string, LinkState>>;
    /** Resolves when tools from outside that were never seen before are there, or do not come soon. */
    seen?(): Promise<void>;
    /** Tools whose settings can be set in a chat (X3), besides those from outside. */
    settings?(): readonly Tool[];
    /** What skills declare and this feature serves. A skill that declares what no feature serves is refused (U1). */
    serves?: 'capabilities';
    /** Why the skill can't be used by this person. Undefined: this feature has nothing against it (U1). */
    lacks?(skill: Skill, requester: Requester, signal: AbortSignal): Promise<string | undefined>;
    /** Sections of the Home tab: `top` before what runs, `end` after everything else. */
    home?(visit: Visit): Promise<Readonly<{ top?: Home; end?: Home }>>;
    /** Problems that owners are shown by `/status` and the Home tab, one sentence each. */
    notices?(reader: Sender): Promise<readonly string[]>;
    /** What the feature keeps that changes what a person may do, for `/why`, one line each. */
    kept?(asked: WhyAsked, say: Say): Promise<readonly string[]>;
    /** Called when another config is in force, and when files of skills or bundles were installed or removed. */
    follow?(): Promise<void> | void;
    /** Called before anything is said or heard. */
    start?(): Promise<void> | void;
    /** Does its own work until the bot stops. Channels may still wait for their platforms. */
    attend?(): Promise<void>;
    /** Called once all channels run, so that messages can be sent and chats looked up. */
    ready?(): void;
    /** Resolves once nothing of the feature is due at the moment. */
    idle?(): Promise<void>;
    /** Begins no more work. Resolves once what it began is stored. */
    stop?(): Promise<void>;
    /** Called once nothing runs any more. */
    close?(): Promise<void>;
    /** Answers a browser that comes to this path below the bot's address (X8). Undefined: the path is not its own. */
    page?(path: string, query: URLSearchParams): Promise<WebPage> | undefined;
    /** Answers a request to `POST /hooks/NAME` (N7). Never rejects. */
    receiveHook?(name: string, request: IncomingMessage): Promise<HookAnswer>;
  }>;

/** The hashes of definitions of all these features. */
export async function allHashes(features: readonly AtRest[]): Promise<ReadonlyMap<string, string>> {
  const each = await Promise.all(features.map(async (feature) => feature.definitionHashes?.() ?? []));
  return new Map(each.flatMap((hashes) => [...hashes]));
}

export const expired = fixed`This button has expired. Please ask me again.`;
