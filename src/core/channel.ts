import type { Words } from './texts/say.ts';
import type { Conversation, SeenChatType } from './conversation.ts';
import type { Diagnostic } from './codes.ts';
import type { Attachment, Message, Sender } from './message.ts';
import type { SettingField, SettingValue } from './setting-field.ts';

/** `action` comes back in a press (≤ 64 bytes, Telegram's limit); a `url` opens by itself. */
export type Button = Readonly<{ label: string; action: string } | { label: string; url: string }>;

/** A file on its way: its bytes are kept by the host under `id` until it was sent. */
export type PartFile = Readonly<{
  id: string;
  /** What the person sees it called: no path. */
  name: string;
  mime: string;
  /** Bytes, at least one. */
  size: number;
  /** Of whom it is for: of what is said where it can't be sent (H14). */
  language?: string;
}>;

/** One platform message: GitHub-flavoured Markdown that `split` has cut to size. */
export type Part = Readonly<{
  /** Of a file: its caption, which may be empty. Else empty: no answer comes, and what is shown in its place goes away (Q6). */
  markdown: string;
  buttons?: readonly Button[];
  /** `platformId` of the message it answers. */
  replyTo?: string;
  file?: PartFile;
  /** Files that are shown together with `file`, as `FileLimits.album` allows. */
  more?: readonly PartFile[];
  /** Qualified id of the only person who sees it: the sender of what was `ephemeral` itself (H12). */
  onlyTo?: string;
}>;

/** Files of a part, its bytes at `path`. */
export type OutgoingFile = PartFile & Readonly<{ path: string }>;

/** A part as a channel sends it: the bytes of its files can be read at `path`. */
export type OutgoingPart = Omit<Part, 'file' | 'more'> &
  Readonly<{ file?: OutgoingFile; more?: readonly OutgoingFile[] }>;

/** All files of a part. */
export function filesOf<File extends PartFile>({
  file,
  more = [],
}: Readonly<{ file?: File; more?: readonly File[] }>): readonly File[] {
  return file === undefined ? [] : [file, ...more];
}

/** What a platform takes of files. */
export type FileLimits = Readonly<{
  /** Bytes of one file. */
  largest: number;
  /** Whether a text fits below a file; one that does not is a message of its own. */
  fitsCaption(markdown: string): boolean;
  /** Files of one kind are shown together, up to ten; one of no kind stands alone. Absent: each stands alone. */
  album?(file: Pick<PartFile, 'mime' | 'size'>): string | undefined;
}>;

/** The platform's id of what was sent. */
export type Receipt = Readonly<{
  id: string;
  /** It only says what is being done: the answer is a message of its own, which rings, and this one goes (U13). */
  silent?: true;
}>;

/**
 * What a person sees while work continues: a typing sign, a line that says what is being done (U13), or the answer as far
 * as it is written, whole from its beginning (H6).
 */
export type Status = Readonly<
  { kind: 'typing' } | { kind: 'line'; text: string } | { kind: 'words'; markdown: string }
>;

/**
 * The message that a status stands in where the platform has nothing better. It is posted once and then changed, also
 * after a restart. One with words of the answer becomes the answer by an edit (Q6); a silent one gives way to it.
 */
export type Placeholder = Readonly<{
  /** Unique for the work that is shown; marks the message, so that `find` finds it. */
  key: string;
  /** `platformId` of the message it answers. */
  replyTo?: string;
  /** `platformId` of the message that is worked on, replied to or not: a sign of work may stand on it. */
  asked?: string;
  /** The message, once it was posted, in this process or one before. */
  posted(): Promise<Receipt | undefined>;
  /** Keeps the receipt of the message, at once after it was posted. Rejects where it can't be kept: the message has to go again. Without one, the message is gone. */
  keep(receipt: Receipt | undefined): Promise<void>;
}>;

/** Somebody pressed a button. */
export type Press = Act &
  Readonly<{
    /** The message that carries the button; a page beside the chat is none. */
    receipt?: Receipt;
  }>;

/** What everybody in the chat may read of a call: its text only where the skill is open to all of them (H12). */
export type ShownCall = Readonly<{ skill?: string; text?: string }>;
type OpenThread = (shown: ShownCall) => Promise<Conversation>;

export type ChannelEvent =
  | Readonly<{
      type: 'message';
      message: Message;
      /** Parts of one thing (album, client-split text) share a key: they are merged while the first waits, `holdMs` at most. */
      join?: Readonly<{ key: string; holdMs: number; glue: string }>;
      /** Called when it is stored to be answered: for a sign that it arrived. */
      stored?: () => void;
      /** Of an `ephemeral` message: posts who asked for what and returns the thread under it. Called once, after everything was judged, before storing. */
      openThread?: OpenThread;
      /** Where a form can be shown in answer to it, within seconds. */
      openForm?: OpenForm;
    }>
  /** `at`: when, in the platform's words: it tells an edit that comes twice from one that brings old words back. */
  | Readonly<{ type: 'edited'; message: Message; at?: string }>
  /** As it was before it was deleted. */
  | Readonly<{ type: 'deleted'; message: Message }>
  /** `tell` shows who pressed, and nobody else, a plain sentence of at most 200 characters, where the platform can: to be called before the event is done with. */
  | Readonly<{
      type: 'press';
      press: Press;
      openForm?: OpenForm;
      tell?(words: string): void;
      /** Where the button is under a message that only one person sees. */
      openThread?: OpenThread;
    }>
  /** Somebody looks at their page beside the chat, or pressed a button there. */
  | Readonly<{ type: 'home'; visit: Visit; showHome: ShowHome; openForm?: OpenForm }>
  /** Somebody looks at their direct message with the bot. `suggest` shows what they may ask: four at most. */
  | Readonly<{ type: 'opened'; visit: Visit; suggest(prompts: readonly Prompt[]): void }>
  /** `refuse` shows what is wrong, by key, and leaves the form open: to be called before the event is done with. */
  | Readonly<{ type: 'form'; filled: Filled; refuse(problems: Readonly<Record<string, string>>): void }>
  /** The bot was added to a group or channel; `by`, where the platform tells (H13). */
  | Readonly<{
      type: 'joined';
      conversation: Conversation;
      by?: Readonly<{ id: string; name: string }>;
    }>
  /** The bot is no longer in a group or channel. */
  | Readonly<{ type: 'left'; conversation: Conversation }>
  /** The platform keeps something from the bot that an owner can change; told to them once for a `key` (H13). */
  | Readonly<{ type: 'notice'; key: string; markdown: Words }>
  /** A group got a new id (A6). Qualified chat ids. */
  | Readonly<{ type: 'moved'; from: string; to: string }>;

/** Resolves once the event is safely stored or rightly ignored: only then does the channel acknowledge it (Q1). Rejects when it could not be stored: the channel then does not acknowledge. */
export type OnEvent = (event: ChannelEvent) => Promise<void>;

/** How a command is written in a conversation, as Markdown: as a person types it there, or taps it (H12). */
export type WriteCommand = (conversation: Conversation, name: string, args?: string) => string;

export type MenuEntry = Readonly<{ name: string; description: string; hint?: string }>;
export type Menus = Readonly<{ private: readonly MenuEntry[]; group: readonly MenuEntry[] }>;

/** A platform at the edge: turns events into messages, and Markdown, buttons and status into platform calls. */
export type Channel = Readonly<{
  name: string;
  /** Resolves when events can arrive. Rejects when it can never work (bad token), saying what to do. */
  start(onEvent: OnEvent): Promise<void>;
  /** Stops taking events; what was given to `onEvent` is awaited. */
  stop(): Promise<void>;
  /** Markdown cut into pieces that each fit one message. At least one for text that is not blank. */
  split(markdown: string): readonly string[];
  /** What it takes of files. */
  files: FileLimits;
  /** Rows of a table that read well in a message; of a longer one the answer shows a part, and it comes as a file. Absent: any. */
  tableRows?: number;
  /**
   * Waits for the platform's pace, then sends. `key` is the outbox row's id. `begin` is called when all waiting is over, right
   * before the platform is: where it rejects nothing is sent, and so does this. Throws SendError otherwise.
   */
  send(
    conversation: Conversation,
    part: OutgoingPart,
    key: string,
    begin?: () => Promise<void>,
  ): Promise<Receipt>;
  /** Looks for a part whose sending was cut off. Undefined if the platform has no way to look. */
  find(conversation: Conversation, key: string): Promise<Receipt | undefined>;
  /** Waits for the platform's pace, then changes a message of the bot's own; one that reads so already is left as it is. The same edit may be made twice. Throws SendError. */
  edit(conversation: Conversation, receipt: Receipt, part: Part): Promise<void>;
  /** Deletes a message: of the bot's own, or somebody's where the platform lets it. One that is gone is no error. Throws SendError. */
  remove(conversation: Conversation, receipt: Receipt): Promise<void>;
  /**
   * Shows or changes the status of a piece of work, or (with nothing) ends it: that resolves when nothing writes into the
   * placeholder any more, whose message stays for the answer. Never throws: status is a courtesy.
   */
  status(conversation: Conversation, status: Status | undefined, placeholder: Placeholder): Promise<void>;
  /**
   * Writes the bytes of a file that a person sent to a new file at `to.path`. Throws FetchFileError, or the signal's reason;
   * what was written up to there may stay. The caller sets the time limit.
   */
  fetchFile(
    attachment: Attachment & Readonly<{ ref: string }>,
    to: Readonly<{ path: string; maxBytes: number }>,
    signal: AbortSignal,
  ): Promise<void>;
  /**
   * What was said before a message in its thread, or, where it begins one, in the chat since `since`: the newest `most`, oldest
   * first, without the bot's own. Rejects where it can't be read. Absent where the platform does not tell.
   */
  readEarlier?(
    message: Message,
    bounds: Readonly<{ most: number; since: number }>,
  ): Promise<readonly Message[]>;
  /** Sets the `/` menus, for everybody or for clients in a language (`de`); gives a diagnostic for each entry that could not be shown (I1). */
  setMenus(menus: Menus, language?: string): Promise<readonly Diagnostic[]>;
  /** Completes a chat type that the event did not carry (Q2). `name`: what people call a group. */
  lookUpChat(
    conversation: Conversation,
  ): Promise<Readonly<{ chatType: SeenChatType; external: boolean; name?: string }>>;
  /** `name` is a built-in command, or with `args`, which may be empty, a skill. */
  command: WriteCommand;
  /** A link that opens a direct message with the bot, carrying a skill's name at most (A11). */
  directLink(skill?: string): string | undefined;
}>;

/** Who spoke with the bot last in a thread, where nobody else has spoken since. */
export type ThreadPartners = Readonly<{
  get(conversation: Conversation): Promise<string | undefined>;
  /** Without a sender there is nobody. */
  set(conversation: Conversation, sender: string | undefined): Promise<void>;
}>;

/** What somebody did with something that the bot showed them: `action` is what the bot wrote there. */
export type Act = Readonly<{
  id: string;
  conversation: Conversation;
  chatType: SeenChatType;
  external: boolean;
  sender: Sender;
  action: string;
  /** As of a message: only the sender sees what it was done with (H12). */
  ephemeral?: true;
}>;

/** A piece of a page: Markdown, and the buttons under it. */
export type HomeSection = Readonly<{ markdown: string; buttons?: readonly Button[] }>;

/** A page that one person sees beside the chat, where the platform has such a thing. */
export type Home = readonly HomeSection[];

/** Somebody opened their page, or pressed a button on it (`action`). `conversation` is their direct message with the bot. */
export type Visit = Omit<Act, 'action'> & Readonly<{ action?: string }>;

/** Something that a person may ask, by one press: words of theirs, or a skill to start. */
export type Prompt = Readonly<{ title: string } & ({ say: string } | { start: string })>;

/** Shows this page to its visitor as soon as the platform lets it. Never throws: a page is a courtesy. */
type ShowHome = (home: Home) => void;

/** Fields that one person fills in at once, where the platform has such a thing. */
export type Form = Readonly<{
  title: string;
  /** Said above the fields: plain text. */
  text: string;
  /** Comes back with what was filled in: at most 200 bytes of ASCII. */
  action: string;
  /** Where it belongs. */
  conversation: Conversation;
  fields: readonly FormField[];
}>;

/** `value` is never that of a secret. */
export type FormField = Readonly<{ field: SettingField; value?: SettingValue; hint: string }>;

/** Shows a form to the person whose act brought it along. Rejects where it can't be shown (any more). */
export type OpenForm = (form: Form) => Promise<void>;

/** A form that somebody sent. */
export type Filled = Act &
  Readonly<{
    /** By key: what was typed or chosen; absent where a field was left empty. */
    values: Readonly<Record<string, string | readonly string[]>>;
  }>;
