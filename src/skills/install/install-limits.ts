import { installedFileLimit } from './lock-check.ts';

/** How much a source may cost before it is given up (D6). */
export type InstallLimits = Readonly<{
  /** Of fetching, in milliseconds. */
  timeMs: number;
  /** Of what git stores of a repository: the kernel stops it there. */
  packBytes: number;
  /** Files, links and submodules of the whole source. */
  entries: number;
  /** Of one file of a skill. */
  fileBytes: number;
  /** Of one skill. */
  skillFiles: number;
  skillBytes: number;
  /** Of all that is read of a source. */
  totalBytes: number;
}>;

export const installLimits: InstallLimits = {
  timeMs: 300_000,
  packBytes: 256 * 1024 * 1024,
  entries: 50_000,
  fileBytes: installedFileLimit,
  skillFiles: 1_000,
  skillBytes: 25 * 1024 * 1024,
  totalBytes: 100 * 1024 * 1024,
};

/** A number of bytes, for people. */
export function sizeText(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  const mebi = bytes / (1024 * 1024);
  return mebi < 1 ? `${(bytes / 1024).toFixed(1)} KB` : `${mebi.toFixed(1).replace('.0', '')} MB`;
}
