/** Removes the thinking that models other than Claude write between tags (M19). Tags in code count as words. */
export type ThinkFilter = Readonly<{
  /** Returns the words that are certain by now. */
  push(more: string): string;
  /** Returns the words that were held back. */
  end(): string;
  /** Returns all words so far, without thinking. */
  text(): string;
  /** True if an end without a beginning came: the model's template begins the thinking. */
  beganInside(): boolean;
}>;

const name = '(?:[a-z]+:)?(?:think|thinking|thoughts?|reasoning|antthinking)';

/** Pairs of tags as models write them. */
const pairs: readonly Readonly<{ open: RegExp; close: RegExp }>[] = [
  { open: new RegExp(`<${name}(?:\\s[^<>]*[^<>/])?\\s*>`, 'iy'), close: new RegExp(`</${name}\\s*>`, 'i') },
  { open: /\[think\]/iy, close: /\[\/think\]/i },
  { open: /◁think▷/iy, close: /◁\/think▷/i },
  { open: /<\|begin_of_thought\|>/iy, close: /<\|end_of_thought\|>/i },
  { open: /<\|start_thinking\|>/iy, close: /<\|end_thinking\|>/i },
  { open: /<\|channel\|>(?:analysis|commentary)<\|message\|>/iy, close: /<\|end\|>/i },
  { open: /<\|channel>thought\b/iy, close: /<channel\|>/i },
];
const nothing = new RegExp(`<${name}\\s*/>`, 'iy');
const ends = new RegExp(
  `</${name}\\s*>|\\[/think\\]|◁/think▷|<\\|end_of_thought\\|>|<\\|end_thinking\\|>`,
  'iy',
);
/** Matches tags around the answer, which are removed once there was thinking. */
const wraps =
  /<\/?(?:final|answer|response)>|<\|(?:begin|end)_of_solution\|>|<\|(?:start|end)_response\|>|<\|start\|>assistant|<\|channel\|>final<\|message\|>|<\|return\|>/iy;
/** Matches text that may still become one of these tags. */
const undecided =
  /^(?:<[^<>\n]{0,60}|<\|(?:start\|?|channel)>[a-z]{0,10}|<\|channel\|>[a-z]{0,10}(?:<(?:\|[a-z]{0,7}\|?)?)?|\[\/?[a-z]{0,5}|◁\/?[a-z]{0,5})$/i;
const longestTag = 70;
const unsure = Symbol('more is needed');

/** Makes the filter. `inside`: the model's template begins the thinking, so all words wait for its end. */
export function createThinkFilter(inside = false): ThinkFilter {
  const code = createCodeWatch();
  let words = '';
  let fresh = '';
  let waiting = '';
  let hidden = '';
  let thinking: Readonly<{ close: RegExp; inLine: boolean }> | undefined;
  /** Thinking that began in the middle of a line. If it never ends, it was only talk about a tag. */
  let held = '';
  let thought = false;
  let trims = true;
  let orphan = false;

  function take(final: boolean): string {
    fresh = '';
    while (waiting !== '') {
      if (thinking !== undefined) {
        if (!think(thinking)) break;
        continue;
      }
      if (trims) {
        const blank = /^\s*/.exec(waiting)?.[0] ?? '';
        waiting = waiting.slice(blank.length);
        if (words.endsWith('\n') && !words.endsWith('\n\n') && blank.includes('\n')) say('\n');
        if (waiting === '') break;
      }
      const tag = tagAhead(final);
      if (tag === unsure) break;
      if (tag !== undefined) {
        waiting = waiting.slice(tag.length);
        continue;
      }
      const piece = /^(?:[^<[◁`~\n]+|`+|~+|[^])/.exec(waiting)?.[0] ?? waiting;
      // More ticks may follow.
      if (!final && piece === waiting && /^[`~]/.test(piece)) break;
      trims = false;
      waiting = waiting.slice(piece.length);
      say(piece);
    }
    return fresh;
  }

  function say(text: string): void {
    words += text;
    fresh += text;
    code.pass(text);
  }

  /** Passes over thinking. False if more text is needed. */
  function think({ close, inLine }: NonNullable<typeof thinking>): boolean {
    const found = close.exec(waiting);
    const length = found === null ? waiting.length - longestTag : found.index + found[0].length;
    const gone = waiting.slice(0, Math.max(0, length));
    if (inLine) held += gone;
    waiting = waiting.slice(gone.length);
    if (found !== null) endThinking();
    return found !== null;
  }

  function endThinking(): void {
    thinking = undefined;
    held = '';
    thought = true;
    trims = /\s/.test(words.at(-1) ?? ' ');
  }

  function tagAhead(final: boolean): string | typeof unsure | undefined {
    if (!/^[<[◁]/.test(waiting) || code.inCode()) return undefined;
    for (const { open, close } of pairs) {
      const tag = at(open, waiting);
      if (tag === undefined) continue;
      thinking = { close, inLine: !code.atLineStart() };
      held = thinking.inLine ? tag : '';
      return tag;
    }
    const self = at(nothing, waiting);
    if (self !== undefined) endThinking();
    const end = self ?? at(ends, waiting);
    if (self === undefined && end !== undefined) {
      const after = waiting.slice(end.length);
      if (/^[ \t]*$/.test(after) && !final) return unsure;
      if (!code.atLineStart() && !/^[ \t]*(?:\n|$)/.test(after)) return undefined;
      words = '';
      fresh = '';
      orphan = true;
      code.reset();
      endThinking();
    }
    if (end !== undefined) return end;
    const wrap = thought ? at(wraps, waiting) : undefined;
    return wrap ?? (!final && undecided.test(waiting) ? unsure : undefined);
  }

  /** The part of new words that is shown. */
  function shown(more: string): string {
    if (!inside || orphan) return more;
    hidden += more;
    return '';
  }

  return {
    push(more) {
      waiting += more;
      return shown(take(false));
    },
    end() {
      const more = take(true);
      const literal = thinking?.inLine === true ? held + waiting : '';
      words += literal;
      thinking = undefined;
      waiting = '';
      return `${orphan ? '' : hidden}${more}${literal}`;
    },
    text: () => words,
    beganInside: () => orphan,
  };
}

function at(pattern: RegExp, text: string): string | undefined {
  pattern.lastIndex = 0;
  return pattern.exec(text)?.[0];
}

/** Tells where code in Markdown is, as far as the text has come. */
function createCodeWatch(): Readonly<{
  pass(text: string): void;
  inCode(): boolean;
  atLineStart(): boolean;
  reset(): void;
}> {
  let line = '';
  let fence = '';
  let opened = false;
  let ticks = 0;
  let mayIndent = false;

  const isIndented = (): boolean => mayIndent && /^(?: {4}|\t)/.test(line);

  function marks(run: string): void {
    const isFirst = /^[\s>]*$/.test(line);
    if (isFirst && run.length >= 3 && fence === '' && ticks === 0) {
      fence = run;
      opened = true;
    } else if (run.startsWith('`') && (fence === '' || opened)) {
      // On the line of a fence, ticks make it code within a line.
      if (opened) ticks = fence.startsWith('`') ? fence.length : 0;
      if (fence.startsWith('`')) fence = '';
      opened = false;
      ticks = ticks === 0 ? run.length : ticks === run.length ? 0 : ticks;
    }
  }

  function endLine(): void {
    const closing = /^[\s>]*(`{3,}|~{3,})\s*$/.exec(line)?.[1];
    if (!opened && closing?.startsWith(fence) === true) fence = '';
    opened = false;
    const blank = line.trim() === '';
    mayIndent = blank || isIndented();
    if (blank) ticks = 0;
    line = '';
  }

  return {
    pass(text) {
      for (const part of text.split(/(\n|`+|~+)/)) {
        if (part === '\n') {
          endLine();
          continue;
        }
        if (/^[`~]/.test(part)) marks(part);
        line += part;
      }
    },
    inCode: () => fence !== '' || ticks > 0 || isIndented(),
    atLineStart: () => line.trim() === '',
    reset() {
      line = '';
      fence = '';
      opened = false;
      ticks = 0;
    },
  };
}
