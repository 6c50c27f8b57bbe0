import type { SourceAddress } from '../../config/source-address.ts';
import type { InstallLimits } from './install-limits.ts';

/** One thing that a source holds. */
export type SourceEntry = Readonly<{
  /** From the top of the source, with `/`; as far as it could be read where `problem` says what is wrong with it. */
  path: string;
  kind: 'file' | 'link' | 'submodule';
  /** Bytes. */
  size: number;
  executable: boolean;
  /** What `read` finds it by. */
  id: string;
  /** Why nothing of this name may be installed. */
  problem?: string;
}>;

/** What a source held at one moment; open until `close`, and no later change shows in it. */
export type SourceSnapshot = Readonly<{
  address: SourceAddress;
  /** Absent for a plain folder. */
  commit?: string;
  /** In path order. */
  entries: readonly SourceEntry[];
  /** The bytes of files, in the same order. Throws OperatorError where one can't be read. */
  read(files: readonly SourceEntry[]): Promise<readonly Buffer[]>;
  /** Removes what was fetched. */
  close(): void;
}>;

/** How a source is to be opened. */
export type OpenSource = Readonly<{
  address: SourceAddress;
  /** Branch, tag or commit; absent: what the repository offers first. */
  ref?: string;
  /** Folder that may be filled, not there yet. */
  quarantine: string;
  limits: InstallLimits;
  signal: AbortSignal;
  progress: (text: string) => void;
  env: Readonly<Record<string, string | undefined>>;
}>;

/** Why a file of this path may not be installed; nothing where it may (D6, S1). */
export function pathProblem(path: string): string | undefined {
  const parts = path.split('/');
  if (path.startsWith('/') || /^[A-Za-z]:/.test(path)) return 'its path is absolute';
  if (parts.some((part) => part === '' || part === '.' || part === '..'))
    return 'its path leads elsewhere ("..", "." or an empty name)';
  if (/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\\]/u.test(path))
    return 'its name holds characters that steer a terminal, can\'t be seen, or "\\"';
  if (parts.some(isGitFolder)) return 'its path goes through a ".git"';
  if (parts.length > 16 || path.length > 1_000 || parts.some((part) => Buffer.byteLength(part) > 255))
    return 'its path is too long';
  return undefined;
}

/** `.git`, also as file systems of other kinds would read it. */
function isGitFolder(part: string): boolean {
  return /^(?:\.git|git~\d+)(?:$|:|[. ]+$)/i.test(part.normalize('NFKC'));
}
