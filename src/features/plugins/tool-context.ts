import type { Conversation, SeenChatType } from '../../core/conversation.ts';
import type { Artifact, DeliveredFile } from '../../core/tool.ts';
import type { Log } from '../../lib/log.ts';
import type { SandboxOutcome } from '../../sandbox/sandbox.ts';

/** A plugin's log, called as pino's loggers are. */
export type PluginLog = Readonly<Record<'debug' | 'info' | 'warn' | 'error', LogLine>>;

/** Accepts `message`, or `fields` and `message`. Log people's texts only at `debug`. */
export type LogLine = {
  (message: string): void;
  (fields: object, message: string): void;
};

/**
 * The files of a call: `/scratch` (deleted with the run, or with the main agent's call), `/chat` (kept) and, in a run,
 * `/skill` (read-only). Relative paths begin in `/scratch`; links are not followed. Failures reject with an `Error`
 * that tells the model what to do, so do not catch it.
 */
export type Workspace = Readonly<{
  /** Reads the bytes of a file, at most 20 MB. */
  read(path: string): Promise<Uint8Array>;
  /** Reads a file as UTF-8, at most 200 kB. */
  readText(path: string): Promise<string>;
  /** Writes a whole file and makes missing folders. It accepts at most 20 MB, and what `[sandbox] disk_mb` leaves. */
  write(path: string, data: string | Uint8Array): Promise<void>;
  /**
   * Lists files and folders, at most 200, four levels deep. Paths in `/chat` begin with `/chat`. A missing folder gives
   * an empty list.
   */
  list(path?: string): Promise<readonly WorkspaceEntry[]>;
}>;

/** A file or folder. `path` is as `read` accepts it; `size` is in bytes. */
export type WorkspaceEntry = Readonly<
  { path: string; kind: 'file'; size: number } | { path: string; kind: 'folder' }
>;

export type CommandOutcome = SandboxOutcome;

/** The sandbox of skills, without network (T9). */
export type ToolSandbox = Readonly<{
  /** How commands are confined: `bubblewrap`, `virtual` (bash and common tools), `docker` or `off`. */
  mode: string;
  /** Paths of the folders as commands see them. */
  folders: Readonly<{ scratch: string; chat: string }>;
  /**
   * Runs text in a shell, or a program with arguments, in the scratch folder. It always resolves, even if the command
   * could not start.
   */
  run(
    command: string | readonly [program: string, ...rest: string[]],
    options?: Readonly<{
      /** The whole environment of the command, except for `PATH` and `HOME`. */
      env?: Readonly<Record<string, string>>;
      /** How many seconds the command may take, from 1 to 600. The default is 60. */
      timeoutSeconds?: number;
    }>,
  ): Promise<CommandOutcome>;
}>;

/** A language model of the config. */
export type ToolModel = Readonly<{
  alias: string;
  /**
   * Asks the model once and returns its text. The usage counts for the requester (`[limits]`). Rejects with a sentence
   * for people if the budget is used up or the model fails.
   */
  complete(request: string | Readonly<{ system?: string; prompt: string }>): Promise<string>;
}>;

/** What `run` receives with its input (X4). */
export type ToolContext<Settings = Readonly<Record<string, unknown>>> = Readonly<{
  bot: Readonly<{
    /** The bot's name, from `[bot] name`. */
    name: string;
  }>;
  /** The conversation that receives everything the tool delivers. */
  conversation: Conversation;
  chatType: SeenChatType;
  /** The person who asked, also in runs and in the background. */
  sender: Readonly<{
    /** Qualified and unique id, such as `telegram:42` or `slack:U042`. */
    id: string;
  }>;
  /** Name of the skill whose run makes the call. Undefined for the main agent. */
  skill?: string;
  /**
   * Values of the tool's settings in this chat: from `/settings`, otherwise `[tools.NAME]`, otherwise defaults (X3).
   */
  settings: Settings;
  sandbox: ToolSandbox;
  workspace: Workspace;
  /** Says in a few words what is going on. A person may see it. */
  progress(text: string): void;
  /**
   * Delivers a file or photo to the conversation, once even if a crash repeats the call. Resolves when it is queued.
   * Rejects with an `Error` for the model if it can't be sent, so do not catch it.
   */
  artifact(artifact: Artifact): Promise<DeliveredFile>;
  /** Aborts when the call is stopped, takes too long, or the bot shuts down. Pass it on. */
  signal: AbortSignal;
  /** Writes to the bot's log. Lines name the tool and the plugin, and secrets of the config are redacted. */
  log: PluginLog;
  /** A model by its alias; by default the main agent's. Throws if the alias is unknown. */
  model(alias?: string): ToolModel;
}>;

/** A log for a plugin. Fields of a line can't override `names`. */
export function namedLog(log: Log, names: Readonly<Record<string, string>>): PluginLog {
  const line =
    (level: keyof Log): LogLine =>
    (fields: object | string, message?: string) =>
      typeof fields === 'string'
        ? log[level]({ ...names }, fields)
        : log[level]({ ...fields, ...names }, message ?? '');
  return { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') };
}
