import type { Words } from './texts/say.ts';
import type { Conversation, SeenChatType } from './conversation.ts';
import type { Diagnostic } from './codes.ts';
import type { Attachment, Message, Sender } from './message.ts';
import type { SettingField, SettingValue } from './setting-field.ts';

/** `action`: at most 64 bytes (Telegram). */
export type Button = Readonly<{ label: string; action: string } | { label: string; url: string }>;

/** The host keeps its bytes under `id` until sent. */
export type PartFile = Readonly<{
  id: string;
  /** No path. */
  name: string;
  mime: string;
  /** At least one byte. */
  size: number;
  /** For what is said if it can't be sent (H14). */
  language?: string;
}>;

export type Part = Readonly<{
  /** A file's caption. Empty without a file: no answer, the placeholder is removed (Q6). */
  markdown: string;
  buttons?: readonly Button[];
  replyTo?: string;
  file?: PartFile;
  /** Shown together, as `FileLimits.album` allows. */
  more?: readonly PartFile[];
  /** Only this person sees it (H12). */
  onlyTo?: string;
}>;

export type OutgoingFile = PartFile & Readonly<{ path: string }>;

/** Its files' bytes are at `path`. */
export type OutgoingPart = Omit<Part, 'file' | 'more'> &
  Readonly<{ file?: OutgoingFile; more?: readonly OutgoingFile[] }>;

export function filesOf<File extends PartFile>({
  file,
  more = [],
}: Readonly<{ file?: File; more?: readonly File[] }>): readonly File[] {
  return file === undefined ? [] : [file, ...more];
}

export type FileLimits = Readonly<{
  largest: number;
  /** Otherwise the text is its own message. */
  fitsCaption(markdown: string): boolean;
  /** Files of one kind form albums of up to ten; undefined: alone. */
  album?(file: Pick<PartFile, 'mime' | 'size'>): string | undefined;
}>;

export type Receipt = Readonly<{
  id: string;
  /** A line of work: the answer is a new message, which notifies (U13). */
  silent?: true;
}>;

/** `line`: what is being done (U13). `words`: the answer so far (H6). `language`: for a sign of work that has words. */
export type Status = Readonly<
  { kind: 'typing'; language?: string } | { kind: 'line'; text: string } | { kind: 'words'; markdown: string }
>;

/** Posted once, then edited, also after a restart. Words become the answer by an edit (Q6); a silent line is replaced. */
export type Placeholder = Readonly<{
  key: string;
  replyTo?: string;
  /** A sign of work may be on it. */
  asked?: string;
  posted(): Promise<Receipt | undefined>;
  /** Stored at once; if it rejects, remove the message. Undefined: removed. */
  keep(receipt: Receipt | undefined): Promise<void>;
}>;

export type Press = Act &
  Readonly<{
    receipt?: Receipt;
  }>;

/** Public part of a call (H12). */
export type ShownCall = Readonly<{ skill?: string; text?: string }>;
type OpenThread = (shown: ShownCall) => Promise<Conversation>;

/** Parts of an album or a split text have one key, whatever process they reach (H3). */
export type Join = Readonly<{
  key: string;
  /** Waits this long for more parts. */
  holdMs: number;
  /** What stands between `last` and this part; undefined if this is no part of the same. */
  glue(last: Message): string | undefined;
}>;

export type ChannelEvent =
  | Readonly<{
      type: 'message';
      message: Message;
      join?: Join;
      stored?: () => void;
      /** Of an `ephemeral` message: posts who asked what, returns the thread. Once, before storing. */
      openThread?: OpenThread;
      /** Within seconds. */
      openForm?: OpenForm;
    }>
  /** `at` distinguishes repeated and later edits. */
  | Readonly<{ type: 'edited'; message: Message; at?: string }>
  | Readonly<{ type: 'deleted'; message: Message }>
  /** `tell`: only to the presser, at most 200 characters, during the event. */
  | Readonly<{
      type: 'press';
      press: Press;
      openForm?: OpenForm;
      tell?(words: string): void;
      openThread?: OpenThread;
    }>
  | Readonly<{ type: 'home'; visit: Visit; showHome: ShowHome; openForm?: OpenForm }>
  /** `suggest` shows at most four prompts. */
  | Readonly<{ type: 'opened'; visit: Visit; suggest(prompts: readonly Prompt[]): void }>
  /** By key, during the event. */
  | Readonly<{ type: 'form'; filled: Filled; refuse(problems: Readonly<Record<string, string>>): void }>
  | Readonly<{
      type: 'joined';
      conversation: Conversation;
      by?: Readonly<{ id: string; name: string }>;
    }>
  | Readonly<{ type: 'left'; conversation: Conversation }>
  /** For owners, once a `key` (H13). */
  | Readonly<{ type: 'notice'; key: string; markdown: Words }>
  | Readonly<{ type: 'moved'; from: string; to: string }>;

/** Resolves once stored or ignored; then the channel acknowledges (Q1). */
export type OnEvent = (event: ChannelEvent) => Promise<void>;

/** As people type or tap it, in Markdown (H12). */
export type WriteCommand = (conversation: Conversation, name: string, args?: string) => string;

export type MenuEntry = Readonly<{ name: string; description: string; hint?: string }>;
export type Menus = Readonly<{ private: readonly MenuEntry[]; group: readonly MenuEntry[] }>;

export type Channel = Readonly<{
  name: string;
  /** Rejects with the fix if it can never work (bad token). */
  start(onEvent: OnEvent): Promise<void>;
  stop(): Promise<void>;
  /** Long text takes a thread, and so a moment. Never rejects. */
  split(markdown: string): Promise<readonly string[]>;
  files: FileLimits;
  /** Longer tables become a file with a preview. */
  tableRows?: number;
  /** Rate-limited. `key`: of the outbox row. `begin`: right before the platform call; its rejection sends nothing. Throws SendError. */
  send(
    conversation: Conversation,
    part: OutgoingPart,
    key: string,
    begin?: () => Promise<void>,
  ): Promise<Receipt>;
  /** Undefined if the platform can't look. */
  find(conversation: Conversation, key: string): Promise<Receipt | undefined>;
  /** Rate-limited and repeatable. Throws SendError. */
  edit(conversation: Conversation, receipt: Receipt, part: Part): Promise<void>;
  /** A missing one is no error. Throws SendError. */
  remove(conversation: Conversation, receipt: Receipt): Promise<void>;
  /** Undefined: resolves once nothing edits the placeholder. Never throws. */
  status(conversation: Conversation, status: Status | undefined, placeholder: Placeholder): Promise<void>;
  /** Into a new file, perhaps incomplete. Throws FetchFileError, or the signal's reason. */
  fetchFile(
    attachment: Attachment & Readonly<{ ref: string }>,
    to: Readonly<{ path: string; maxBytes: number }>,
    signal: AbortSignal,
  ): Promise<void>;
  /** The same for a picture's smaller copy, where the platform makes one. */
  fetchSmaller?: Channel['fetchFile'];
  /** Qualified ids of the people in a user group (A13). Rejects if they can't be told. */
  membersOf?(group: string): Promise<readonly string[]>;
  /** Of the thread, or of the chat since `since`: the newest `most`, oldest first. Rejects if unreadable. */
  readEarlier?(
    message: Message,
    bounds: Readonly<{ most: number; since: number }>,
  ): Promise<readonly Message[]>;
  /** `language`: `de`. Returns entries that can't be shown (I1). */
  setMenus(menus: Menus, language?: string): Promise<readonly Diagnostic[]>;
  /** For events without a chat type (Q2). */
  lookUpChat(conversation: Conversation): Promise<
    Readonly<{
      chatType: SeenChatType;
      external: boolean;
      name?: string;
      /** Qualified id of whom a private chat is with. */
      person?: string;
    }>
  >;
  /** A built-in command, or with `args` a skill. */
  command: WriteCommand;
  /** To a message by its platform's id, if the platform has such addresses (K5). */
  messageLink?(conversation: Conversation, id: string): string | undefined;
  /** Carries at most a skill's name (A11). */
  directLink(skill?: string): string | undefined;
}>;

/** The last person with the bot in a thread, if nobody spoke since. */
export type ThreadPartners = Readonly<{
  get(conversation: Conversation): Promise<string | undefined>;
  set(conversation: Conversation, sender: string | undefined): Promise<void>;
}>;

export type Act = Readonly<{
  id: string;
  conversation: Conversation;
  chatType: SeenChatType;
  external: boolean;
  sender: Sender;
  action: string;
  /** Only the sender sees it (H12). */
  ephemeral?: true;
}>;

export type HomeSection = Readonly<{ markdown: string; buttons?: readonly Button[] }>;

export type Home = readonly HomeSection[];

/** `conversation` is their direct message with the bot. */
export type Visit = Omit<Act, 'action'> & Readonly<{ action?: string }>;

export type Prompt = Readonly<{ title: string } & ({ say: string } | { start: string })>;

/** As soon as the platform lets it. Never throws. */
type ShowHome = (home: Home) => void;

export type Form = Readonly<{
  title: string;
  text: string;
  /** At most 200 bytes, ASCII. */
  action: string;
  conversation: Conversation;
  fields: readonly FormField[];
  /** In the language of who opens it (H14). */
  words: Readonly<Record<'save' | 'cancel' | 'on' | 'off', string>>;
}>;

/** `value`: never of a secret. */
export type FormField = Readonly<{ field: SettingField; value?: SettingValue; hint: string }>;

/** To the person whose act allows it. Rejects if it is too late. */
export type OpenForm = (form: Form) => Promise<void>;

export type Filled = Act &
  Readonly<{
    values: Readonly<Record<string, string | readonly string[]>>;
  }>;
