import type { Conversation, SeenChatType } from '../core/conversation.ts';
import type { Artifact, DeliveredFile } from '../core/tool.ts';
import type { Log } from '../lib/log.ts';
import type { SandboxOutcome } from '../sandbox/sandbox.ts';

/** A plugin's log, in pino's shape. */
export type PluginLog = Readonly<Record<'debug' | 'info' | 'warn' | 'error', LogLine>>;

/** `message`, or `fields` and `message`. Log people's texts only at `debug`. */
export type LogLine = {
  (message: string): void;
  (fields: object, message: string): void;
};

/**
 * The files of a call: `/scratch` (deleted with the run, or the main agent's call), `/chat` (kept) and, in a run,
 * read-only `/skill`. Relative paths begin in `/scratch`; links are not followed. Failures reject with an `Error` that a
 * model can act on: let it pass.
 */
export type Workspace = Readonly<{
  /** Bytes of a file: 20 MB at most. */
  read(path: string): Promise<Uint8Array>;
  /** UTF-8, at most 200 kB. */
  readText(path: string): Promise<string>;
  /** Writes a whole file and makes folders: at most 20 MB, and what `[sandbox] disk_mb` leaves. */
  write(path: string, data: string | Uint8Array): Promise<void>;
  /**
   * Files and folders, at most 200, four levels deep; undefined if the folder is missing. Paths in `/chat` begin with
   * `/chat`.
   */
  list(path?: string): Promise<readonly WorkspaceEntry[]>;
}>;

/** `path` as `read` accepts it; `size` in bytes. */
export type WorkspaceEntry = Readonly<
  { path: string; kind: 'file'; size: number } | { path: string; kind: 'folder' }
>;

export type CommandOutcome = SandboxOutcome;

/** The sandbox of skills, without network (T9). */
export type ToolSandbox = Readonly<{
  /** `bubblewrap`, `virtual` (bash and common tools), `docker` or `off`. */
  mode: string;
  /** The folders as commands see them. */
  folders: Readonly<{ scratch: string; chat: string }>;
  /**
   * Runs text in a shell, or a program with arguments, in the scratch folder. Always resolves, even if it could not
   * start.
   */
  run(
    command: string | readonly [program: string, ...rest: string[]],
    options?: Readonly<{
      /** All of its environment except `PATH` and `HOME`. */
      env?: Readonly<Record<string, string>>;
      /** 1 to 600; default 60. */
      timeoutSeconds?: number;
    }>,
  ): Promise<CommandOutcome>;
}>;

/** A configured language model. */
export type ToolModel = Readonly<{
  alias: string;
  /**
   * Asks once and returns the text. Usage counts for the requester (`[limits]`). Rejects with a sentence for people if
   * the budget or the model fails.
   */
  complete(request: string | Readonly<{ system?: string; prompt: string }>): Promise<string>;
}>;

/** What `run` receives (X4). */
export type ToolContext<Settings = Readonly<Record<string, unknown>>> = Readonly<{
  bot: Readonly<{
    /** `[bot] name`. */
    name: string;
  }>;
  /** Everything the tool delivers goes here. */
  conversation: Conversation;
  chatType: SeenChatType;
  /** Who asked, also in runs and the background. */
  sender: Readonly<{
    /** Qualified and unique: `telegram:42`, `slack:U042`. */
    id: string;
  }>;
  /** The calling run's skill; absent for the main agent. */
  skill?: string;
  /** Values for this chat: defaults, `[tools.NAME]`, `/settings` (X3). */
  settings: Settings;
  sandbox: ToolSandbox;
  workspace: Workspace;
  /** Says in a few words what is going on; a person may see it. */
  progress(text: string): void;
  /**
   * Delivers a file or photo to the conversation, once even if a crash repeats the call. Resolves when it is queued.
   * Rejects with an `Error` if it can't be sent: let it pass.
   */
  artifact(artifact: Artifact): Promise<DeliveredFile>;
  /** Aborts on stop, timeout or shutdown. Pass it on. */
  signal: AbortSignal;
  /** Lines name the tool and the plugin; secrets of the config are redacted. */
  log: PluginLog;
  /** A model by its alias; default: the main agent's. Throws for an unknown alias. */
  model(alias?: string): ToolModel;
}>;

/** Fields can't override the names. */
export function namedLog(log: Log, names: Readonly<Record<string, string>>): PluginLog {
  const line =
    (level: keyof Log): LogLine =>
    (fields: object | string, message?: string) =>
      typeof fields === 'string'
        ? log[level]({ ...names }, fields)
        : log[level]({ ...fields, ...names }, message ?? '');
  return { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') };
}
