import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

export const root = path.join(import.meta.dirname, '../..');

/** `file` from the root. */
export type DocumentFile = Readonly<{ file: string; text: string }>;

/** What people read about the bot; decisions and the spec included. */
export function documents(): readonly DocumentFile[] {
  const below = readdirSync(path.join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name.replaceAll(path.sep, '/')}`);
  const others = [
    'README.md',
    'CONTRIBUTING.md',
    'SECURITY.md',
    'CHANGELOG.md',
    'SUPPORT.md',
    'CODE_OF_CONDUCT.md',
    'src/README.md',
    'test/servers/README.md',
  ];
  return [...others, ...below.sort()].map((file) => ({
    file,
    text: readFileSync(path.join(root, file), 'utf8'),
  }));
}

/** `file`: the path in backquotes above it. Indented blocks have no language. */
export type Block = Readonly<{ language: string; file?: string; text: string }>;

/** Fenced and indented blocks, those inside lists, too. */
export function blocksOf(markdown: string): readonly Block[] {
  const found: { language: string; file?: string; lines: string[] }[] = [];
  let open: { lines: string[]; indent?: number } | undefined;
  let above: string | undefined;
  for (const line of markdown.split('\n')) {
    const fence = /^(\s*)```(\w*)/.exec(line);
    if (open?.indent !== undefined) {
      if (fence === null) open.lines.push(line.slice(open.indent));
      else open = undefined;
    } else if (fence !== null) {
      const block = { language: fence[2] ?? '', file: above, lines: [] };
      open = { lines: block.lines, indent: fence[1]?.length ?? 0 };
      found.push(block);
    } else if (/^ {4}/.test(line)) {
      if (open === undefined) {
        open = { lines: [] };
        found.push({ language: '', lines: open.lines });
      }
      open.lines.push(line);
    } else if (line.trim() === '') open?.lines.push('');
    else open = undefined;
    if (line.trim() !== '') above = /^`([^`]+)`$/.exec(line)?.[1];
  }
  return found.map(({ lines, ...block }) => ({ ...block, text: dedent(lines) }));
}

function dedent(lines: readonly string[]): string {
  const filled = lines.filter((line) => line.trim() !== '');
  const indent = Math.min(...filled.map((line) => line.length - line.trimStart().length));
  return lines
    .map((line) => line.slice(indent))
    .join('\n')
    .trimEnd();
}

/** A command as somebody would type it: without prompt, comment and what is said beside it. `isInline`: within a sentence. */
export type ShownCommand = Readonly<{ file: string; line: string; isInline: boolean }>;

/** Every command line of `skillet`, npm and npx that documents show. */
export function shownCommands(all: readonly DocumentFile[]): readonly ShownCommand[] {
  return all.flatMap(({ file, text }) => {
    const inBlocks = blocksOf(text)
      .filter(({ language }) => ['', 'bash', 'sh', 'shell', 'text'].includes(language))
      .flatMap((block) => block.text.split('\n'))
      .flatMap((line) => bareCommand(line).split(' && '))
      .map((line) => ({ file, line, isInline: false }));
    const inline = [...text.replace(/```[^]*?```/g, '').matchAll(/`([^`]+)`/g)].map(([, words = '']) => ({
      file,
      line: words.replace(/\s+/g, ' '),
      isInline: true,
    }));
    return [...inBlocks, ...inline].filter(({ line }) => /^(?:skillet|npm|npx) \S/.test(line));
  });
}

function bareCommand(line: string): string {
  return line
    .replace(/^(?:\$ )?(?:[A-Z_]+=\S+ )*/, '')
    .replace(/ +# .*$/, '')
    .replace(/ {2,}.*$/, '')
    .replace(/ (?:>{1,2}|<) .*$/, '')
    .trim();
}

/** As a shell cuts it; no variables. */
export function words(line: string): readonly string[] {
  return [...line.matchAll(/(?:"([^"]*)"|'([^']*)'|([^\s"'])+)+/g)].map(([word]) =>
    word.replace(/["']/g, ''),
  );
}
