import { closeSync } from 'node:fs';
import { createNamelessFile } from './nameless-file.ts';
import { systemCallFilter } from './system-calls.ts';
import type { SystemMounts } from './system-mounts.ts';

/** Files that bwrap reads from descriptors: settings of the sandbox, and its system calls. */
export type HandedFiles = Readonly<{
  /** Whether system calls are filtered: not on every processor. */
  filters: boolean;
  /** Opens them for one command. */
  open(settings: SystemMounts['settings']): Readonly<{
    args: readonly string[];
    /** Adds a file of bwrap's options: commands can read its command line, and options name paths of the host. */
    withOptions(options: readonly string[]): Readonly<{ number: string; files: readonly number[] }>;
    close(): void;
  }>;
  close(): void;
}>;

/** By these `localhost` is found. A system that has them keeps its own; builds add them. */
export const nameSettings = [
  ['/etc/hosts', '127.0.0.1 localhost\n::1 localhost\n'],
  ['/etc/nsswitch.conf', 'passwd: files\ngroup: files\nhosts: files dns\n'],
] as const;

/** Keeps those files for all commands; `first` is the number that the first of them gets in bwrap. */
export function createHandedFiles(
  user: number,
  first: number,
  memory: Readonly<{ counted: boolean }>,
): HandedFiles {
  const settings = [
    ...nameSettings.map((each) => [...each, 'kept'] as const),
    [
      '/etc/passwd',
      `skillet:x:${user}:${user}::/scratch:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n`,
      'replaced',
    ] as const,
    ['/etc/group', `skillet:x:${user}:\nnogroup:x:65534:\n`, 'replaced'] as const,
  ].map(([place, text, present]) => ({ place, present, file: createNamelessFile(text) }));
  const filter = systemCallFilter(memory);
  const calls = filter === undefined ? undefined : createNamelessFile(filter);
  return {
    filters: calls !== undefined,
    open(how) {
      const files: number[] = [];
      const take = (file: number): string => String(first + files.push(file) - 1);
      const args = settings.flatMap(({ place, present, file }) => {
        const made = how(place);
        if (made === 'none' || (made === 'over' && present === 'kept')) return [];
        // A file in a folder of the sandbox's own is cheaper than a mount.
        return ['--perms', '0644', made === 'new' ? '--file' : '--ro-bind-data', take(file.open()), place];
      });
      if (calls !== undefined) args.push('--seccomp', take(calls.open()));
      return {
        args,
        withOptions(options) {
          const file = createNamelessFile(options.join('\0'));
          const number = take(file.open());
          file.close();
          return { number, files };
        },
        close: () => files.forEach((file) => closeSync(file)),
      };
    },
    close() {
      for (const { file } of settings) file.close();
      calls?.close();
    },
  };
}
