import type { Entry } from '../core/entry.ts';
import type { WordOrigin } from '../core/provenance.ts';
import { labels } from '../lib/text/escape-labels.ts';

type UserEntry = Extract<Entry, { kind: 'user' }>;

/** A stretch of what a model reads, and whose words it is. */
export type Piece = Readonly<{ text: string; isOwn: boolean; from: NonNullable<WordOrigin> }>;

const opening = new RegExp(`^<(${labels.join('|')})((?: [a-z]+="[^"]*")*)>$`);

type Label = Readonly<{ name: string; attributes: string; from: NonNullable<WordOrigin> }>;

/**
 * Splits an entry by its labels; what the bot itself says in `host` is left out (M11). `isOwn` is true for what the
 * sender typed.
 */
export function piecesIn({ content, sender, files = [] }: UserEntry): readonly Piece[] {
  const text = typeof content === 'string' ? content : content.flatMap(textOf).join('\n');
  const pieces: Piece[] = [];
  const open: Label[] = [];
  let lines: string[] = [];
  const end = (): void => {
    const isHost = open[0]?.name === 'host';
    const joined = lines.join('\n');
    if (!isHost && joined !== '')
      pieces.push({
        text: joined,
        isOwn: isOwn(open, sender),
        from: open.at(-1)?.from ?? { words: 'typed' },
      });
    lines = [];
  };
  for (const line of text.split('\n')) {
    const [, name, attributes = ''] = opening.exec(line) ?? [];
    // Only these two labels hold others; elsewhere labels are escaped.
    const nests = open.every((label) => label.name === 'background' || label.name === 'context');
    if (name !== undefined && nests) {
      end();
      open.push({ name, attributes, from: originOf(name, attributes) });
    } else if (line === `</${open.at(-1)?.name}>`) {
      end();
      open.pop();
    } else lines.push(line);
  }
  end();
  if (files.length > 0) pieces.push({ text: '(files)', isOwn: false, from: { words: 'file' } });
  return pieces;
}

function textOf(block: Readonly<{ type: string; text?: unknown }>): readonly string[] {
  return block.type === 'text' && typeof block.text === 'string' ? [block.text] : [];
}

/**
 * Whether the sender typed this. In groups a label names who wrote it; background messages are inside another label.
 */
function isOwn(open: readonly Label[], sender: string | undefined): boolean {
  const [label, inner] = open;
  if (label === undefined) return true;
  if (inner !== undefined || label.name !== 'message' || sender === undefined) return false;
  return attributeOf(label.attributes, 'id') === sender;
}

function originOf(name: string, attributes: string): NonNullable<WordOrigin> {
  const by = attributeOf(attributes, 'from');
  if (name === 'output') return { words: 'tool' };
  if (name === 'file') return { words: 'file', by };
  const isSomebodys = (name === 'quote' || name === 'message') && by !== 'you' && by !== undefined;
  if (!isSomebodys) return { words: 'unknown' };
  return { words: 'forwarded', by };
}

function attributeOf(attributes: string, name: string): string | undefined {
  const [, value] = new RegExp(` ${name}="([^"]*)"`).exec(attributes) ?? [];
  return value
    ?.replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}
