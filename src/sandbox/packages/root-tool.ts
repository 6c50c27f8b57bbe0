import { existsSync, readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { findProgram } from '../find-program.ts';
import type { RootRecipe } from './root-recipe.ts';

/** An existing tool that makes a root file system: it reads apt's sources on standard input, writes a tar to standard output and what it does to standard error. */
export type RootTool = Readonly<{
  name: string;
  /** `work` is an empty folder for what it needs meanwhile. */
  command(recipe: RootRecipe, work: string): readonly [program: string, ...rest: string[]];
}>;

export type FoundRootTool =
  Readonly<{ ok: true; tool: RootTool }> | Readonly<{ ok: false; /** What to install. */ message: string }>;

/**
 * The tool of this host: mmdebstrap, as root or, where the user has subordinate ids, as a user; else debootstrap, which
 * takes root (R6). It ends with the bot's process, however that ends, and as root its mounts are its own.
 */
export function findRootTool(
  options: { searchPath?: string; uid?: number; subordinateIds?: boolean } = {},
): FoundRootTool {
  const {
    searchPath = `${process.env['PATH'] ?? ''}:/usr/sbin:/usr/bin:/sbin:/bin`,
    uid = process.getuid?.() ?? 0,
    subordinateIds = hasSubordinateIds(),
  } = options;
  const program = (name: string): string | undefined => findProgram(name, searchPath);
  const mmdebstrap = program('mmdebstrap');
  if (uid === 0) {
    const debootstrap = program('debootstrap');
    if (mmdebstrap !== undefined) return found(byMmdebstrap(mmdebstrap, true));
    if (debootstrap !== undefined) return found(byDebootstrap(debootstrap));
    return missing('install mmdebstrap: apt-get install mmdebstrap');
  }
  if (mmdebstrap !== undefined && subordinateIds && program('newuidmap') !== undefined)
    return found(byMmdebstrap(mmdebstrap, false));
  const { username } = userInfo();
  const steps = [
    ...(mmdebstrap === undefined || program('newuidmap') === undefined
      ? ['apt-get install mmdebstrap uidmap']
      : []),
    ...(subordinateIds
      ? []
      : [`usermod --add-subuids 100000-165535 --add-subgids 100000-165535 ${username}`]),
  ];
  return missing(
    `run this command as root, or make it work for ${username}: ${steps.join(' && ')} (as root)`,
  );
}

function found(tool: RootTool): FoundRootTool {
  return { ok: true, tool };
}

function missing(message: string): FoundRootTool {
  return { ok: false, message };
}

/** A process that dies takes the tool with it; nobody else sees what the tool mounts, so nothing of it can be left. */
const alone = ['unshare', '--mount', '--pid', '--fork', '--kill-child'];

/** What no program needs, and makes half of a small tree. */
const leaveOut = ['doc', 'man', 'info', 'locale', 'lintian'];

/** Chooses the small package that says "merged already" over the one that brings Perl to merge folders. */
const mergedHook = '/usr/share/mmdebstrap/hooks/maybe-merged-usr';

function byMmdebstrap(program: string, asRoot: boolean): RootTool {
  return {
    name: 'mmdebstrap',
    command: ({ suite, packages }) => [
      'setpriv',
      '--pdeathsig',
      asRoot ? 'KILL' : 'TERM',
      ...(asRoot ? alone : []),
      program,
      '--verbose',
      `--mode=${asRoot ? 'root' : 'unshare'}`,
      '--variant=essential',
      '--format=tar',
      ...(existsSync(mergedHook) ? [`--hook-directory=${mergedHook}`] : []),
      ...leaveOut.map((name) => `--dpkgopt=path-exclude=/usr/share/${name}/*`),
      `--include=${packages.join(',')}`,
      '--',
      suite,
      '-',
      '-',
    ],
  };
}

/** debootstrap makes the smallest system; apt inside it brings updates and the packages, from all of the sources. */
const script = `
set -eu
debootstrap=$1 suite=$2 mirror=$3 keyring=$4 work=$5
shift 5
tree=$work/tree
cat > "$work/sources.list"
"$debootstrap" --variant=minbase --include=ca-certificates \${keyring:+--keyring="$keyring"} "$suite" "$tree" "$mirror" >&2
cp "$work/sources.list" "$tree/etc/apt/sources.list"
if [ -n "$keyring" ]; then install -D -m 644 "$keyring" "$tree$keyring"; fi
printf '#!/bin/sh\\nexit 101\\n' > "$tree/usr/sbin/policy-rc.d"
chmod 755 "$tree/usr/sbin/policy-rc.d"
for name in ${leaveOut.join(' ')}; do echo "path-exclude=/usr/share/$name/*"; done > "$tree/etc/dpkg/dpkg.cfg.d/90small"
mount -t proc proc "$tree/proc"
# In there the host's folder for temporary files does not exist.
export TMPDIR=/tmp
chroot "$tree" apt-get update >&2
chroot "$tree" apt-get --yes --no-install-recommends -o Dpkg::Use-Pty=0 upgrade >&2
chroot "$tree" apt-get --yes --no-install-recommends -o Dpkg::Use-Pty=0 install -- "$@" >&2
chroot "$tree" apt-get clean >&2
umount "$tree/proc"
tar --create --directory="$tree" --one-file-system .
`;

function byDebootstrap(program: string): RootTool {
  return {
    name: 'debootstrap',
    command(recipe, work) {
      const { mirror, keyring } = firstSource(recipe);
      const rest = [program, recipe.suite, mirror, keyring, work, ...recipe.packages];
      return ['setpriv', '--pdeathsig', 'KILL', ...alone, 'sh', '-c', script, 'skillet', ...rest];
    },
  };
}

function firstSource({ suite, sources }: RootRecipe): Readonly<{ mirror: string; keyring: string }> {
  for (const line of sources) {
    const [, options = '', mirror = '', name] = /^deb (?:\[([^\]]*)\] )?(\S+) (\S+)/.exec(line) ?? [];
    if (name !== suite) continue;
    return { mirror, keyring: /(?:^|\s)signed-by=(\/[^\s,]+)/.exec(options)?.[1] ?? '' };
  }
  throw new Error(`no source of ${suite} among ${sources.join(' | ')}`);
}

function hasSubordinateIds(): boolean {
  const { username, uid } = userInfo();
  return ['/etc/subuid', '/etc/subgid'].every(
    (file) =>
      existsSync(file) &&
      readFileSync(file, 'utf8')
        .split('\n')
        .some((line) => line.startsWith(`${username}:`) || line.startsWith(`${uid}:`)),
  );
}
