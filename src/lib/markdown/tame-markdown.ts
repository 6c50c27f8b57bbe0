import { graphemeStart } from './grapheme-start.ts';
import { safeParts } from './safe-parts.ts';
import { sourceLines } from './source-lines.ts';
import { withoutControls } from './without-controls.ts';

/**
 * A stretch of a source that is parsed by itself, together with the link definitions that it refers to and that stand
 * elsewhere. `literal`: its shape would stall a parser, so it is shown as it stands.
 */
export type Stretch = Readonly<{ source: string; definitions: string; literal: boolean }>;

/** Characters after which a stretch ends at a good place, at a fair one, anywhere. The parser's time is not quite linear. */
const goodLength = 6_000;
const fairLength = 16_000;
const anyLength = 32_000;

const definition = /^ {0,3}\[([^[\]\\]{1,200})\]:[ \t]*\S[^\n]{0,2000}$/;

/**
 * Makes any text safe to parse: control characters and terminal sequences removed, lone surrogates replaced, cut into
 * stretches whose parsing takes bounded time and stack, whatever somebody wrote to make it long (S6).
 */
export function tameMarkdown(markdown: string): readonly Stretch[] {
  const source = withoutControls(markdown);
  const stretches = cutIntoStretches(source).flatMap(safeParts);
  const definitions = stretches.length === 1 ? [] : findDefinitions(source);
  return stretches.map(({ source: stretch, literal }) => ({
    source: stretch,
    definitions: definitions
      .filter(({ label, line }) => stretch.includes(`[${label}]`) && !stretch.includes(line))
      .map(({ line }) => line)
      .join('\n'),
    literal,
  }));
}

function cutIntoStretches(source: string): readonly string[] {
  const stretches: string[] = [];
  let start = 0;
  let afterBlank = false;
  const cutAt = (end: number): void => {
    stretches.push(source.slice(start, end));
    start = end;
  };
  for (const { text, position, blank, code } of sourceLines(source)) {
    const length = position - start;
    // Inside a fence a cut would turn code into text; parsing code is cheap at any length.
    const opens = code && /^[`~]/.test(text) && afterBlank;
    if (!code || opens) {
      const fair = afterBlank && /^\S/.test(text);
      const good = fair && !/^(?:[-*+]|\d+[.)])\s/.test(text);
      if (length > (good ? goodLength : fair ? fairLength : anyLength)) cutAt(position);
      if (!code && length > 0 && length + text.length > anyLength) cutAt(position);
      while (!code && position + text.length - start > anyLength) cutAt(safeCut(source, start + anyLength));
    }
    afterBlank = blank && !code;
  }
  stretches.push(source.slice(start));
  return stretches;
}

function findDefinitions(source: string): readonly Readonly<{ label: string; line: string }>[] {
  return [...sourceLines(source)].flatMap(({ text, code }) => {
    const label = code ? undefined : definition.exec(text.trimEnd())?.[1];
    return label === undefined ? [] : [{ label, line: text.trimEnd() }];
  });
}

function safeCut(source: string, end: number): number {
  const space = source.lastIndexOf(' ', end - 1);
  if (space > end - 1000) return space + 1;
  return graphemeStart(source, end);
}
