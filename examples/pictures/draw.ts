import { displayWidth } from '../../src/lib/text/text.ts';

/** Words in one style. */
export type Span = Readonly<{
  text: string;
  style?: 'bold' | 'italic' | 'strike' | 'code' | 'link' | 'faint';
}>;

/** One message as people see it; a line break in a span begins a new line. */
export type Shown = Readonly<{
  who: string;
  isBot: boolean;
  /** `14:05`. */
  at: string;
  spans: readonly Span[];
  /** What it answers, in a line above it. */
  quote?: string;
  /** Names of files; `picture` is an address of its bytes. */
  files?: readonly Readonly<{ name: string; picture?: string }>[];
  buttons?: readonly string[];
  /** It is a reply in the thread of the message before. */
  inThread?: boolean;
}>;

export type Drawing = Readonly<{
  platform: 'Telegram' | 'Slack';
  /** Of the chat. */
  title: string;
  shown: readonly Shown[];
}>;

type Piece = Span & Readonly<{ width: number }>;
type Line = readonly Piece[];
/** SVG and how many pixels it is high. */
type Drawn = Readonly<{ svg: string; height: number }>;

const width = 560;
const fontSize = 15;
const lineHeight = 21;
/** Pixels between two messages. */
const gap = 10;
const looks = {
  Telegram: { back: '#d6e4ef', head: '#ffffff', person: '#e3fbd0', bot: '#ffffff', accent: '#2481cc' },
  Slack: { back: '#ffffff', head: '#ffffff', person: '#ffffff', bot: '#ffffff', accent: '#1264a3' },
} as const;

/** A picture (SVG) of a chat: as close to the platform's look as one reads it by, its fonts and icons apart. */
export function drawChat({ platform, title, shown }: Drawing): string {
  const look = looks[platform];
  const draw = platform === 'Telegram' ? drawBubble : drawRow;
  let top = 62;
  const parts = shown.map((each) => {
    const { svg, height } = draw(each, look.accent);
    const placed = `<g transform="translate(0 ${top})">${svg}</g>`;
    top += height + gap;
    return placed;
  });
  const height = top + 8;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="-apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif" font-size="${fontSize}">
<title>${escape(`${platform}: ${title}`)}</title>
<rect width="${width}" height="${height}" rx="10" fill="${look.back}"/>
<path d="M0 48V10A10 10 0 0 1 10 0H${width - 10}A10 10 0 0 1 ${width} 10V48Z" fill="${look.head}"/>
<line x1="0" y1="48" x2="${width}" y2="48" stroke="#dde3e9"/>
<text x="18" y="30" font-weight="600" fill="#1d1c1d">${escape(title)}</text>
<text x="${width - 18}" y="30" text-anchor="end" fill="#8a949e" font-size="13">${platform}</text>
${parts.join('\n')}
<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="9.5" fill="none" stroke="#c9d3dc"/>
</svg>
`;
}

/** People to the right, the bot to the left. */
function drawBubble(shown: Shown, accent: string): Drawn {
  const most = width - 150;
  const body = drawBody(shown, most, accent);
  const wide = Math.max(120, body.width) + 24;
  const left = shown.isBot ? 16 : width - 16 - wide;
  const name = shown.isBot
    ? ''
    : `<text x="12" y="20" font-weight="600" font-size="13" fill="#3a7a2c">${escape(shown.who)}</text>`;
  const above = shown.isBot ? 8 : 26;
  const height = above + body.height + 22;
  const keyboard = drawButtons(shown.buttons ?? [], wide, '#6a8ba5', '#ffffff');
  const svg = `<g transform="translate(${left} 0)"><rect width="${wide}" height="${height}" rx="12" fill="${shown.isBot ? looks.Telegram.bot : looks.Telegram.person}"/>${name}<g transform="translate(12 ${above})">${body.svg}</g><text x="${wide - 10}" y="${height - 7}" text-anchor="end" font-size="11" fill="#8a949e">${shown.at}</text><g transform="translate(0 ${height + 4})">${keyboard.svg}</g></g>`;
  return { svg, height: height + (keyboard.height === 0 ? 0 : keyboard.height + 4) };
}

/** Everybody below each other, threads set in. */
function drawRow(shown: Shown, accent: string): Drawn {
  const left = shown.inThread === true ? 52 : 16;
  const body = drawBody(shown, width - left - 64, accent);
  const app = shown.isBot ? `<tspan dx="6" font-size="10" font-weight="600" fill="#616061">APP</tspan>` : '';
  const keyboard = drawButtons(shown.buttons ?? [], 330, '#ffffff', '#1d1c1d');
  const height = Math.max(40, 24 + body.height + keyboard.height);
  const thread =
    shown.inThread === true
      ? `<line x1="34" y1="${-gap}" x2="34" y2="${height}" stroke="#dde3e9" stroke-width="2"/>`
      : '';
  const svg = `${thread}<g transform="translate(${left} 0)"><rect width="36" height="36" rx="6" fill="${shown.isBot ? '#3f0e40' : '#6f8fae'}"/><text x="18" y="24" text-anchor="middle" font-weight="700" fill="#fff">${escape([...shown.who][0] ?? '')}</text><text x="46" y="13" font-weight="700" fill="#1d1c1d">${escape(shown.who)}${app}<tspan dx="8" font-size="12" font-weight="400" fill="#616061">${shown.at}</tspan></text><g transform="translate(46 18)">${body.svg}</g><g transform="translate(46 ${24 + body.height})">${keyboard.svg}</g></g>`;
  return { svg, height };
}

function drawBody(
  { spans, quote, files = [] }: Shown,
  most: number,
  accent: string,
): Drawn & Readonly<{ width: number }> {
  const parts: string[] = [];
  let top = 0;
  let widest = 0;
  if (quote !== undefined) {
    const line = fit(quote, most - 14);
    parts.push(
      `<line x1="1" y1="2" x2="1" y2="20" stroke="${accent}" stroke-width="3"/><text x="10" y="16" font-size="13" fill="#616f7a">${escape(line)}</text>`,
    );
    top += 26;
    widest = line.length * 7 + 14;
  }
  for (const { name, picture } of files) {
    if (picture !== undefined) {
      parts.push(
        `<image x="0" y="${top}" width="240" height="160" preserveAspectRatio="xMidYMid slice" href="${picture}"/>`,
      );
      top += 168;
      widest = Math.max(widest, 240);
    } else {
      parts.push(
        `<g transform="translate(0 ${top})"><rect width="240" height="40" rx="6" fill="#f1f4f7" stroke="#d5dce2"/><rect x="10" y="8" width="18" height="24" rx="2" fill="${accent}"/><text x="38" y="25" font-size="14" fill="#1d1c1d">${escape(fit(name, 190))}</text></g>`,
      );
      top += 48;
      widest = Math.max(widest, 240);
    }
  }
  const words = spans.some(({ text }) => text !== '') ? wrap(spans, most) : [];
  for (const line of words) {
    const x = line.reduce((sum, piece) => sum + piece.width, 0);
    const pieces = line.map((piece) => drawPiece(piece, accent)).join('');
    parts.push(`<text x="0" y="${top + 16}" xml:space="preserve" fill="#1d1c1d">${pieces}</text>`);
    widest = Math.max(widest, x);
    top += lineHeight;
  }
  return { svg: parts.join(''), height: top, width: Math.min(most, widest) };
}

function drawPiece({ text, style }: Piece, accent: string): string {
  if (style === undefined) return escape(text);
  const shownAs = {
    bold: 'font-weight="700"',
    italic: 'font-style="italic"',
    strike: 'text-decoration="line-through"',
    code: `font-family="ui-monospace, 'DejaVu Sans Mono', monospace" font-size="13" fill="#a8324a"`,
    link: `fill="${accent}"`,
    faint: 'fill="#7a858f"',
  } as const;
  return `<tspan ${shownAs[style]}>${escape(text)}</tspan>`;
}

function drawButtons(labels: readonly string[], wide: number, back: string, words: string): Drawn {
  if (labels.length === 0) return { svg: '', height: 0 };
  const each = (wide - 6 * (labels.length - 1)) / labels.length;
  const svg = labels
    .map(
      (label, at) =>
        `<g transform="translate(${at * (each + 6)} 0)"><rect width="${each}" height="32" rx="7" fill="${back}" stroke="#c3ccd4"/><text x="${each / 2}" y="21" text-anchor="middle" font-size="14" font-weight="600" fill="${words}">${escape(fit(label, each - 8))}</text></g>`,
    )
    .join('');
  return { svg, height: 36 };
}

/** Words into lines of at most `most` pixels; a word longer than that is cut. */
function wrap(spans: readonly Span[], most: number): readonly Line[] {
  const lines: Piece[][] = [[]];
  let used = 0;
  const put = (piece: Piece): void => {
    lines.at(-1)?.push(piece);
    used += piece.width;
  };
  const next = (): void => {
    lines.push([]);
    used = 0;
  };
  for (const { text, style } of spans) {
    const whole = style === undefined ? {} : { style };
    text.split('\n').forEach((line, at) => {
      if (at > 0) next();
      for (const word of line.match(/ +|[^ ]{1,44}/g) ?? []) {
        const wide = widthOf(word, style);
        if (used + wide > most && used > 0 && !word.startsWith(' ')) next();
        if (word.startsWith(' ') && used === 0 && style !== 'code') continue;
        put({ text: word, ...whole, width: wide });
      }
    });
  }
  while (lines.length > 1 && lines.at(-1)?.length === 0) lines.pop();
  return lines.map(joined);
}

/** Neighbours of one style are one piece. */
function joined(line: readonly Piece[]): Line {
  const pieces: Piece[] = [];
  for (const piece of line) {
    const last = pieces.at(-1);
    if (last === undefined || last.style !== piece.style) pieces.push(piece);
    else
      pieces[pieces.length - 1] = { ...last, text: last.text + piece.text, width: last.width + piece.width };
  }
  return pieces;
}

/** About how wide a common font sets it, in pixels. */
function widthOf(text: string, style: Span['style']): number {
  let ems = 0;
  for (const character of text) {
    if (style === 'code') ems += displayWidth(character) * 0.53;
    else if (displayWidth(character) > 1) ems += 1.1;
    else if (/[ .,:;!|'()ijltfrI[\]/]/.test(character)) ems += 0.36;
    else if (/[mwMW@%—]/.test(character)) ems += 0.9;
    else if (/[A-Z0-9]/.test(character)) ems += 0.66;
    else ems += 0.6;
  }
  return ems * fontSize * (style === 'bold' ? 1.08 : 1);
}

function fit(text: string, most: number): string {
  let short = text.replaceAll('\n', ' ');
  while (widthOf(short, undefined) > most && short.length > 1)
    short = `${short.replace(/…$/, '').slice(0, -1)}…`;
  return short;
}

function escape(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`).replace(/\p{Cc}/gu, '');
}
