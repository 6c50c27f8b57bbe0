/**
 * The names that dpkg's status file counts as installed: packages, and what they provide (`mail-transport-agent`). One that
 * is removed, or half installed, is not there.
 */
export function installedPackages(status: string): ReadonlySet<string> {
  const names = new Set<string>();
  for (const stanza of status.split('\n\n')) {
    if (!/^Status: \S+ \S+ installed$/m.test(stanza)) continue;
    const [, name] = /^Package: (\S+)$/m.exec(stanza) ?? [];
    if (name !== undefined) names.add(name);
    const [, provided = ''] = /^Provides: (.+)$/m.exec(stanza) ?? [];
    for (const each of provided.split(',')) {
      const [word] = each.trim().split(' ');
      if (word) names.add(word);
    }
  }
  return names;
}
