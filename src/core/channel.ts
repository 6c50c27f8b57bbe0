import type { Words } from './texts/say.ts';
import type { ChatKind, Conversation } from './conversation.ts';
import type { Diagnostic } from './codes.ts';
import type { FileLimits } from './file-limits.ts';
import type { OpenForm } from './form.ts';
import type { Menus, Prompt } from './menus.ts';
import type { Join } from './join.ts';
import type { Actor, Attachment, Message } from './message.ts';
import type { Plan } from './plan.ts';
import type { Privately, PrivateReply } from './privately.ts';
import type { MadeWith, Thumbs, ThumbsBy } from './rating.ts';

/** A button below a message. `action` has at most 64 bytes, because Telegram allows no more. */
export type Button = Readonly<{ label: string; action: string } | { label: string; url: string }>;

/** A file of an answer. The bot keeps its bytes under `id` until it is sent. */
export type PartFile = Readonly<{
  id: string;
  /** The file's name without any folder. */
  name: string;
  mime: string;
  /** Size in bytes, which is at least one. */
  size: number;
  /** Language of the sentence that replaces the file if it can't be sent (H14). */
  language?: string;
}>;

export type Part = Readonly<{
  /**
   * The text, or the caption of the file. Empty without a file means that there is no answer and the placeholder is
   * removed (Q6).
   */
  markdown: string;
  buttons?: readonly Button[];
  replyTo?: string;
  file?: PartFile;
  /** Further files that appear together with `file`, as `FileLimits.album` allows. */
  more?: readonly PartFile[];
  /** Qualified id of the only person who sees it; undefined if everybody in the chat does (U16). */
  onlyTo?: string;
  privately?: Privately;
  /** Steps of the work, shown above the text (U18). */
  plan?: Plan;
  /**
   * It is about this group, and goes to a direct message instead. The group reads so once for each `key`; undefined if it
   * reads nothing.
   */
  from?: Readonly<{ key?: string; conversation: Conversation }>;
  /** Set if this is a part of an answer of the agent, which people can rate (U17). */
  made?: MadeWith;
  /** The buttons by which they do it. Undefined: no buttons. */
  thumbs?: Thumbs;
}>;

export type OutgoingFile = PartFile & Readonly<{ path: string }>;

/** A part that is ready to be sent: the bytes of its files lie at their `path`. */
export type OutgoingPart = Omit<Part, 'file' | 'more'> &
  Readonly<{ file?: OutgoingFile; more?: readonly OutgoingFile[] }>;

export function filesOf<File extends PartFile>({
  file,
  more = [],
}: Readonly<{ file?: File; more?: readonly File[] }>): readonly File[] {
  return file === undefined ? [] : [file, ...more];
}

export type Receipt = Readonly<{
  id: string;
  /**
   * The message is a line about progress, not words of the answer. The answer then comes as a new message, which
   * notifies the person (U13).
   */
  silent?: true;
  /** The steps that the message shows. It stays when the answer comes, as a plan that is over (U18). */
  plan?: Plan;
  /** Qualified id of the only person who sees the message. */
  onlyTo?: string;
}>;

/**
 * What the bot shows while it works. `line` says what it does (U13), `words` is the answer so far (H6). `language` is
 * for platforms that show typing in words. `plan` has the steps, for channels that show them.
 */
export type ChatStatus = Readonly<
  | { kind: 'typing'; language?: string }
  | { kind: 'line'; text: string; plan?: Plan | undefined }
  | { kind: 'words'; markdown: string; plan?: Plan | undefined }
>;

/**
 * The message that shows progress: posted once and then edited, also after a restart. Words become the answer by an
 * edit (Q6); a silent line is replaced by a new message.
 */
export type Placeholder = Readonly<{
  key: string;
  replyTo?: string;
  /** Platform's id of the message under work, on which a channel may show a sign of work. */
  asked?: string;
  /** The button that ends the work, for channels that show one below the message (U15). */
  stop?: Button;
  posted(): Promise<Receipt | undefined>;
  /** Stores where the placeholder is, or with undefined that it is gone. If it rejects, remove the message. */
  keep(receipt: Receipt | undefined): Promise<void>;
}>;

/** A press on a button. A reaction with a thumb is one, too: every message has that button (U17). */
export type Press = Act &
  Readonly<{
    receipt?: Receipt;
  }>;

/** A press on a stop button (U15). */
export type StopPress = Omit<Act, 'action'> &
  Readonly<{
    /** Whether the button belongs to the placeholder with this key. Undefined: to whatever works in the conversation. */
    isOf?(placeholder: string): boolean;
  }>;

/** What the bot does in a conversation: it answers, it waits for a person's decision, or neither. */
export type WorkState = 'working' | 'asking' | 'idle';

/** What the chat may see of a command that only its sender sees (H12). */
export type ShownCall = Readonly<{ skill?: string; text?: string }>;
/** `group`: where to open it if it is not where the person acted, because they act for a group (U16). */
type OpenThread = (shown: ShownCall, group?: Conversation) => Promise<Conversation>;

export type ChannelEvent =
  | Readonly<{
      type: 'message';
      message: Message;
      join?: Join;
      stored?: () => void;
      /**
       * For an `ephemeral` message: posts who asked for what and returns the thread for the answer. Call it once,
       * before the message is stored.
       */
      openThread?: OpenThread;
      /** Opens a form. Slack accepts it only about 3 s after the event. */
      openForm?: OpenForm;
    }>
  /** Somebody edited a message. `at` tells a repeated event from a later edit. */
  | Readonly<{ type: 'edited'; message: Message; at?: string }>
  | Readonly<{ type: 'deleted'; message: Message }>
  /**
   * Somebody pressed a button. `tell` shows words only to that person: at most 200 characters, and only during the
   * event.
   */
  | Readonly<{
      type: 'press';
      press: Press;
      openForm?: OpenForm;
      tell?(words: string): void;
      openThread?: OpenThread;
    }>
  /** Somebody pressed the platform's own stop button. `tell` shows words only to that person. */
  | Readonly<{ type: 'stop'; stop: StopPress; tell?(words: string): void }>
  | Readonly<{ type: 'home'; visit: Visit; showHome: ShowHome; openForm?: OpenForm }>
  /** Somebody opened the chat with the bot. `suggest` shows at most four prompts. */
  | Readonly<{ type: 'opened'; visit: Visit; suggest(prompts: readonly Prompt[]): void }>
  /**
   * Somebody saved a form. `refuse` shows problems by the keys of their fields. Call it before the handler resolves.
   */
  | Readonly<{ type: 'form'; filled: Filled; refuse(problems: Readonly<Record<string, string>>): void }>
  | Readonly<{
      type: 'joined';
      conversation: Conversation;
      by?: Readonly<{ id: string; name: string }>;
    }>
  | Readonly<{ type: 'left'; conversation: Conversation }>
  /** The channel has something to tell the owners. They read it once for each `key` (H13). */
  | Readonly<{ type: 'notice'; key: string; markdown: Words }>
  | Readonly<{ type: 'moved'; from: string; to: string }>;

/**
 * Handles one event of a channel. It resolves once the event is stored or ignored; then the channel acknowledges it to
 * the platform (Q1).
 */
export type OnEvent = (event: ChannelEvent) => Promise<void>;

/** Writes a command as people type or tap it there, in Markdown (H12). */
export type WriteCommand = (conversation: Conversation, name: string, args?: string) => string;

export type Channel = Readonly<{
  name: string;
  /**
   * Begins to receive events. Rejects with a sentence about the fix if the channel can never work, as with a bad token.
   */
  start(onEvent: OnEvent): Promise<void>;
  stop(): Promise<void>;
  /** Cuts Markdown into pieces that fit one message. A long text is cut in a worker thread. Never rejects. */
  split(markdown: string): Promise<readonly string[]>;
  files: FileLimits;
  /** Most rows of a table in a message; longer tables become a file with a preview. Undefined: any number. */
  tableRows?: number;
  /**
   * Sends one part within the rate limit, to `onlyTo` alone or not at all. `key` is that of its outbox row. `begin` runs
   * right before the platform call; if it rejects, nothing is sent. Throws SendError.
   */
  send(
    conversation: Conversation,
    part: OutgoingPart,
    key: string,
    begin?: () => Promise<void>,
  ): Promise<Receipt>;
  /** The message that was sent under `key`. Undefined if there is none, or if the platform offers no way to look. */
  find(conversation: Conversation, key: string): Promise<Receipt | undefined>;
  /** Replaces what a sent message shows, within the rate limit. It can be repeated. Throws SendError. */
  edit(conversation: Conversation, receipt: Receipt, part: Part): Promise<void>;
  /** Removes a sent message; if it is gone already, that is no error. Throws SendError. */
  remove(conversation: Conversation, receipt: Receipt): Promise<void>;
  /**
   * Shows what the bot does now. With undefined it stops, and resolves once nothing edits the placeholder any more.
   * Never throws.
   */
  status(conversation: Conversation, status: ChatStatus | undefined, placeholder: Placeholder): Promise<void>;
  /** Whether a status here shows the steps of its plan (U18). Undefined: nowhere. */
  showsPlan?(conversation: Conversation): boolean;
  /**
   * Shows whether the bot is at work in a conversation, on platforms with a stop button of their own (U15). `asked` is
   * the message that is answered. Nothing waits for it, and it never throws.
   */
  showWork?(conversation: Conversation, state: WorkState, asked?: Message): void;
  /**
   * Downloads an attachment into a new file, which may be incomplete after a failure. Throws FetchFileError, or the
   * signal's reason.
   */
  fetchFile(
    attachment: Attachment & Readonly<{ ref: string }>,
    to: Readonly<{ path: string; maxBytes: number }>,
    signal: AbortSignal,
  ): Promise<void>;
  /** Downloads the smaller copy of a picture; undefined if the platform makes none. */
  fetchSmaller?: Channel['fetchFile'];
  /** Whether this person is in the group now. Rejects if the platform does not say. Undefined: it has no groups. */
  hasMember?(group: Conversation, person: string): Promise<boolean>;
  /** Qualified ids of the people in a user group (A13). Rejects if the platform does not tell them. */
  membersOf?(group: string): Promise<readonly string[]>;
  /**
   * Earlier messages of the thread, or of the chat since `since`: the newest `most` of them, oldest first. Rejects if
   * they can't be read.
   */
  readEarlier?(
    message: Message,
    bounds: Readonly<{ most: number; since: number }>,
  ): Promise<readonly Message[]>;
  /**
   * Shows the commands in the platform's menus, for people with this `language` (as `de`) or for all. Returns a note
   * for each entry that can't be shown (I1).
   */
  setMenus(menus: Menus, language?: string): Promise<readonly Diagnostic[]>;
  /** Asks the platform about a chat, for events that do not name its type (Q2). */
  lookUpChat(conversation: Conversation): Promise<
    ChatKind &
      Readonly<{
        name?: string;
        /** Qualified id of the person in a private chat with the bot. */
        person?: string;
      }>
  >;
  /** Writes a built-in command, or with `args` the start of a skill. */
  command: WriteCommand;
  /** How people rate answers there unless the config says otherwise (U17). Undefined: they can't. */
  thumbs?: ThumbsBy;
  /** Set if presses there can open forms. */
  hasForms?: true;
  /** Address of a message by its platform's id; undefined if the platform has no such addresses (K5). */
  messageLink?(conversation: Conversation, id: string): string | undefined;
  /** Address that opens a direct message with the bot. It carries at most a skill's name (A11). */
  directLink(skill?: string): string | undefined;
}>;

export type Act = Actor &
  Readonly<{
    id: string;
    action: string;
    /** When it was done by the platform's clock, in milliseconds since 1970. A stop does not mean later work. */
    at?: number;
    /** Only the sender sees the message and its answers (H12). */
    ephemeral?: true;
    privateReply?: PrivateReply;
  }>;

export type Home = readonly Readonly<{ markdown: string; buttons?: readonly Button[] }>[];

/** Somebody opened the bot's Home tab or chat. `conversation` is their direct message with the bot. */
export type Visit = Omit<Act, 'action'> & Readonly<{ action?: string }>;

/** Shows the Home tab as soon as the platform allows it. Never throws. */
type ShowHome = (home: Home) => void;

export type Filled = Act &
  Readonly<{
    values: Readonly<Record<string, string | readonly string[]>>;
  }>;
