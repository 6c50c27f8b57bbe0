import type { Sandbox, SandboxFolders } from '../../sandbox/sandbox.ts';
import type { FolderUse } from '../../folders/folders.ts';
import type { ToolSandbox } from './tool-context.ts';

/** Runs `work` in the folders of a call. */
export type Within = <Result>(how: FolderUse, work: () => Promise<Result>) => Promise<Result>;

/** How many characters of each stream a tool gets. */
const outputCap = 200_000;
const usualSeconds = 60;
const longestSeconds = 600;

/**
 * The bot's sandbox for plugins (X4): these folders, no network, and no skill's environment. Each command runs inside
 * `within`.
 */
export function createToolSandbox(
  sandbox: Pick<Sandbox, 'mode' | 'seen' | 'run'>,
  folders: SandboxFolders & Readonly<{ chat: string }>,
  signal: AbortSignal,
  within: Within,
): ToolSandbox {
  return {
    mode: sandbox.mode,
    folders: {
      scratch: sandbox.seen('scratch', folders.scratch),
      chat: sandbox.seen('chat', folders.chat),
    },
    async run(command, { env = {}, timeoutSeconds = usualSeconds } = {}) {
      if (!(timeoutSeconds >= 1 && timeoutSeconds <= longestSeconds))
        throw new Error(`timeoutSeconds is ${timeoutSeconds}: write 1 to ${longestSeconds}`);
      return within('changes', () =>
        sandbox.run({
          ...folders,
          argv: typeof command === 'string' ? ['sh', '-c', command] : command,
          network: [],
          env,
          timeoutMs: timeoutSeconds * 1_000,
          outputCap,
          signal,
        }),
      );
    },
  };
}
