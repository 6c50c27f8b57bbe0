import type { Conversation, SeenChatType } from '../core/conversation.ts';
import type { Artifact, DeliveredFile } from '../core/tool.ts';
import type { Log } from '../lib/log.ts';
import type { SandboxOutcome } from '../sandbox/sandbox.ts';

/** Where a plugin says what it does: pino's shape. */
export type PluginLog = Readonly<Record<'debug' | 'info' | 'warn' | 'error', LogLine>>;

/** `message` alone, or `fields` that stand beside it. Texts of people belong in no line above `debug`. */
export type LogLine = {
  (message: string): void;
  (fields: object, message: string): void;
};

/**
 * Files that a call sees, and nothing else: `/scratch`, gone when the run (or, of the main agent, the call) ends; `/chat`,
 * kept for the conversation; in a run `/skill`, to be read. A path that does not begin with `/` is one in `/scratch`. Links
 * lead nowhere. What can't be had rejects with an `Error` whose message a model can act on: let it pass.
 */
export type Workspace = Readonly<{
  /** Bytes of a file: 20 MB at most. */
  read(path: string): Promise<Uint8Array>;
  /** A text file in UTF-8: 200 kB at most. */
  readText(path: string): Promise<string>;
  /** Writes a file whole, folders on the way being made: 20 MB at most, and what `[sandbox] disk_mb` leaves. */
  write(path: string, data: string | Uint8Array): Promise<void>;
  /**
   * Files and folders below a folder, four levels deep, at most 200; undefined if there is no such folder. What is listed of
   * `/chat` begins with `/chat`.
   */
  list(path?: string): Promise<readonly WorkspaceEntry[]>;
}>;

/** `path` as `read` takes it; `size` in bytes. */
export type WorkspaceEntry = Readonly<
  { path: string; kind: 'file'; size: number } | { path: string; kind: 'folder' }
>;

/** What became of a command. */
export type CommandOutcome = SandboxOutcome;

/** The sandbox that skills run in (T9). Commands see the call's workspace and have no network. */
export type ToolSandbox = Readonly<{
  /** `bubblewrap`, `virtual` (bash and common tools alone), `docker` or `off`. */
  mode: string;
  /** The folders as commands see them. */
  folders: Readonly<{ scratch: string; chat: string }>;
  /**
   * Runs a command: text is for a shell, a list is a program and its arguments. It begins in the scratch folder. Resolves
   * whatever becomes of it, also where it could not be run at all.
   */
  run(
    command: string | readonly [program: string, ...rest: string[]],
    options?: Readonly<{
      /** All of its environment beside `PATH` and `HOME`. */
      env?: Readonly<Record<string, string>>;
      /** 1 to 600; 60 where absent. */
      timeoutSeconds?: number;
    }>,
  ): Promise<CommandOutcome>;
}>;

/** A configured language model. */
export type ToolModel = Readonly<{
  /** The alias that answers. */
  alias: string;
  /**
   * Asks once, and gives the text of the answer. What it uses counts as the requester's (`[limits]`). Rejects with a sentence
   * for people where their budget is used up or the model gives no answer.
   */
  complete(request: string | Readonly<{ system?: string; prompt: string }>): Promise<string>;
}>;

/** What `run` is handed: all that a tool needs to know of the bot, of the place and of the person it works for (X4). */
export type ToolContext<Settings = Readonly<Record<string, unknown>>> = Readonly<{
  bot: Readonly<{
    /** `[bot] name`. */
    name: string;
  }>;
  /** Where the call is made for; what the tool hands over goes there and nowhere else. */
  conversation: Conversation;
  chatType: SeenChatType;
  /** Whose message began the work: in a run, too, and in the background. */
  sender: Readonly<{
    /** Qualified and never another's: `telegram:42`, `slack:U042`. */
    id: string;
  }>;
  /** The skill whose run makes the call; absent where it is the main agent. */
  skill?: string;
  /** What is set of this tool in this chat: defaults, `[tools.NAME]` of config.toml, `/settings` (X3). */
  settings: Settings;
  sandbox: ToolSandbox;
  workspace: Workspace;
  /** Says in a few words what is going on; a person may see it. */
  progress(text: string): void;
  /**
   * Delivers a file to the conversation, or a picture as a photo; it is on its way when this resolves, once, also where the call
   * is made again after a crash. Rejects with an `Error` where it can't be sent (too large, empty): let it pass.
   */
  artifact(artifact: Artifact): Promise<DeliveredFile>;
  /** Aborted when the person stops the work, its time is over or the bot ends. Hand it on to what takes one. */
  signal: AbortSignal;
  /** Lines carry the tool's and the plugin's name; secrets of the config are taken out of them. */
  log: PluginLog;
  /** The model of an alias of `[models]`; without one that of the main agent. Throws where there is none of that name. */
  model(alias?: string): ToolModel;
}>;

/** The bot's log for a plugin: every line says whose it is, whatever its fields say. */
export function namedLog(log: Log, names: Readonly<Record<string, string>>): PluginLog {
  const line =
    (level: keyof Log): LogLine =>
    (fields: object | string, message?: string) =>
      typeof fields === 'string'
        ? log[level]({ ...names }, fields)
        : log[level]({ ...fields, ...names }, message ?? '');
  return { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') };
}
