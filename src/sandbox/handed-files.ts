import { closeSync } from 'node:fs';
import { createNamelessFile } from './nameless-file.ts';
import { systemCallFilter } from './system-calls.ts';
import type { SystemMounts } from './system-mounts.ts';

/** Files that bwrap reads from descriptors: users and groups of the sandbox, and its system calls. */
export type HandedFiles = Readonly<{
  /** Whether system calls are filtered: not on every processor. */
  filters: boolean;
  /** Opens them for one command. */
  open(
    users: SystemMounts['users'],
  ): Readonly<{ files: readonly number[]; args: readonly string[]; close(): void }>;
  close(): void;
}>;

/** Keeps those files for all commands; `first` is the number that the first of them gets in bwrap. */
export function createHandedFiles(user: number, first: number): HandedFiles {
  const filter = systemCallFilter();
  const users = [
    ['/etc/passwd', `skillet:x:${user}:${user}::/scratch:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n`],
    ['/etc/group', `skillet:x:${user}:\nnogroup:x:65534:\n`],
  ] as const;
  const all = [
    ...users.map(([place, text]) => ({
      file: createNamelessFile(text),
      ofUsers: true,
      // A file in a folder of the sandbox's own is cheaper than a mount.
      args: (fd: string, isNew: boolean) => [
        '--perms',
        '0644',
        isNew ? '--file' : '--ro-bind-data',
        fd,
        place,
      ],
    })),
    ...(filter === undefined
      ? []
      : [{ file: createNamelessFile(filter), ofUsers: false, args: (fd: string) => ['--seccomp', fd] }]),
  ];
  return {
    filters: filter !== undefined,
    open(users) {
      const handed = all.filter(({ ofUsers }) => !ofUsers || users !== 'none');
      const files = handed.map(({ file }) => file.open());
      return {
        files,
        args: handed.flatMap(({ args }, index) => args(String(index + first), users === 'new')),
        close: () => files.forEach((file) => closeSync(file)),
      };
    },
    close() {
      for (const { file } of all) file.close();
    },
  };
}
