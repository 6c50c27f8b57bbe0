import type { RootTool } from '../../src/sandbox/packages/root-recipe.ts';

/**
 * Makes a real tree, a tiny one, the way the real tools do: sources in, tar out, words on standard error. It has dpkg's
 * list of what was asked for, a program that is setuid and a device folder that must stay behind. `before` is shell code
 * that runs first.
 */
export function standInRootTool(before = ''): RootTool {
  return {
    name: 'stand-in',
    command: ({ packages, suite }, work) => [
      'sh',
      '-euc',
      script,
      'stand-in',
      before,
      work,
      suite,
      ...packages,
    ],
  };
}

/** Shell code that puts the host's own shell with its libraries into `$tree`: what a sandbox needs to start anything. */
export const withShell = `
ln -s usr/bin "$tree/bin"
mkdir -p "$tree/usr/bin"
cp -L /bin/sh "$tree/usr/bin/sh"
for library in $(ldd /bin/sh | grep -o '/[^ ]*'); do
  mkdir -p "$tree$(dirname "$library")"
  cp -L "$library" "$tree$library"
done
`;

const script = `
before=$1 work=$2 suite=$3
shift 3
tree=$work/raw
mkdir -p "$tree/usr/bin" "$tree/var/lib/dpkg" "$tree/dev" "$tree/etc"
cat > "$tree/etc/sources"
echo "I: making $suite" >&2
eval "$before"
for name in "$@"; do
  printf 'Package: %s\\nStatus: install ok installed\\nVersion: 1\\n\\n' "$name" >> "$tree/var/lib/dpkg/status"
  echo "Setting up $name (1) ..." >&2
done
printf '#!/bin/sh\\necho tool\\n' > "$tree/usr/bin/tool"
chmod 4755 "$tree/usr/bin/tool"
echo content > "$tree/dev/left"
tar --create --directory="$tree" .
`;
