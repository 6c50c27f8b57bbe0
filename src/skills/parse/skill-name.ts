/** Names are at most this many code points (F6). */
export const nameLimit = 64;

/** The id a name stands for: NFKC, lower-case letters and digits of any script with single `-` between them. May be empty. */
export function slugOf(name: string): string {
  return name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-|-$/g, '');
}

/** What the specification has against a name, one sentence each; `directory` must be the same after NFKC (F6). */
export function nameProblems(written: string, directory: string | undefined): readonly string[] {
  const name = written.normalize('NFKC');
  const length = [...name].length;
  const problems: string[] = [];
  if (length > nameLimit) problems.push(`"${name}" has ${length} characters; at most ${nameLimit}`);
  if (name !== name.toLowerCase()) problems.push(`"${name}" has upper-case letters; use lower case`);
  if (/^-|-$/.test(name)) problems.push(`"${name}" begins or ends with "-"`);
  if (name.includes('--')) problems.push(`"${name}" has "--"; use a single "-"`);
  if (!/^[\p{L}\p{N}-]*$/u.test(name)) problems.push(`"${name}" may hold letters, digits and "-" only`);
  if (directory !== undefined && directory.normalize('NFKC') !== name)
    problems.push(`"${name}" must be the folder's name, "${directory}"`);
  return problems;
}
