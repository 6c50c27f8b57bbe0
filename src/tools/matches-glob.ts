/**
 * Whether `text` is named by a pattern of `*`, `?` and sets (`[ab]`, `[a-z]`, `[!a]`). Takes time in proportion to
 * the product of both lengths at most, whatever the pattern. A set without its end, or of more than
 * 100 characters, is taken as plain characters.
 */
export function matchesGlob(pattern: string, text: string): boolean {
  // Most patterns are told apart by how they begin.
  const plain = pattern.search(globbing);
  if (plain < 0) return pattern === text;
  if (!text.startsWith(pattern.slice(0, plain))) return false;
  const steps = stepsOf(pattern);
  const characters = [...text];
  let step = 0;
  let at = 0;
  let star = -1;
  let resume = 0;
  while (at < characters.length) {
    const matcher = steps[step];
    if (matcher === 'any') {
      star = step++;
      resume = at;
    } else if (matcher?.(characters[at] ?? '') === true) {
      step++;
      at++;
    } else if (star >= 0) {
      step = star + 1;
      at = ++resume;
    } else {
      return false;
    }
  }
  return steps.slice(step).every((rest) => rest === 'any');
}

/** Whether a name is a pattern rather than a plain name. */
export function isGlob(name: string): boolean {
  return globbing.test(name);
}

const globbing = /[*?[]/;

type Step = 'any' | ((character: string) => boolean);

function stepsOf(pattern: string): readonly Step[] {
  const pieces = pattern.match(/\*+|\?|\[!?[^\]]{1,100}\]|[^]/gu) ?? [];
  return pieces.map((piece) => {
    if (piece.startsWith('*')) return 'any';
    if (piece === '?') return () => true;
    if (piece.length > 1 && piece.startsWith('[')) return setOf(piece.slice(1, -1));
    return (character) => character === piece;
  });
}

function setOf(inside: string): (character: string) => boolean {
  const without = inside.length > 1 && inside.startsWith('!');
  const members = (without ? inside.slice(1) : inside).match(/[^]-[^]|[^]/gu) ?? [];
  return (character) => {
    const listed = members.some((member) => {
      const [from = '', dash, to] = [...member];
      return dash === undefined || to === undefined
        ? character === from
        : from <= character && character <= to;
    });
    return listed !== without;
  };
}
