import { oneLine } from '../../lib/text/text.ts';

export const noNames: Names = new Map();

/** Characters that turn or hide text. The two joiners stay, because emoji and some scripts need them. */
const invisible = /(?![\u200c\u200d])\p{Cf}/gu;

type SlackText = Readonly<{
  text: string;
  /** The same as `text`, unless a name is in its first word. */
  commandText: string;
  mentioned: boolean;
  mentionsOthers: boolean;
  hiddenLinks: readonly string[];
  people: readonly string[];
}>;

type Piece = Readonly<
  | { kind: 'text'; text: string; mention: boolean; hidden?: string }
  | { kind: 'person'; user: string; text: string }
  | { kind: 'own' }
>;

/** Reads Slack's markup as plain text. Only Slack's own marks are mentions, because typed text arrives escaped. */
export function plainSlackText(source: string, botUser: string, names: Names = noNames): SlackText {
  const pieces = source.split(/(<[^<>]*>)/).map((piece) => toPiece(piece, botUser));
  const text = written(pieces, names);
  const bare = written(pieces, noNames);
  return {
    text,
    commandText: firstWord(text) === firstWord(bare) ? text : bare,
    mentioned: pieces.some(({ kind }) => kind === 'own'),
    mentionsOthers: pieces.some(
      (piece) => piece.kind === 'person' || (piece.kind === 'text' && piece.mention),
    ),
    hiddenLinks: pieces.flatMap((piece) => (piece.kind === 'text' && piece.hidden ? [piece.hidden] : [])),
    people: pieces.flatMap((piece) => (piece.kind === 'person' ? [piece.user] : [])),
  };
}

function toPiece(piece: string, botUser: string): Piece {
  const inner = /^<([^<>]*)>$/.exec(piece)?.[1];
  if (inner === undefined) return { kind: 'text', text: unescape(piece), mention: false };
  if (inner === `@${botUser}` || inner.startsWith(`@${botUser}|`)) return { kind: 'own' };
  const text = unescape(readable(inner));
  const user = /^@([UW]\w+)(?:\||$)/.exec(inner)?.[1];
  if (user !== undefined) return { kind: 'person', user, text };
  const hidden = hiddenIn(inner);
  const link = hidden === undefined ? {} : { hidden: unescape(hidden) };
  return { kind: 'text', text, ...link, mention: /^(?:@|!subteam\^|!here|!channel|!everyone)/.test(inner) };
}

function written(pieces: readonly Piece[], names: Names): string {
  return withoutOwnMention(
    pieces.map((piece) => {
      if (piece.kind === 'own') return undefined;
      const name = piece.kind === 'person' ? names.get(piece.user) : undefined;
      return name === undefined ? piece.text : `@${name.replace(/^@+/, '')}`;
    }),
  );
}

function firstWord(text: string): string {
  return /^\S*/.exec(text)?.[0] ?? '';
}

function withoutOwnMention(pieces: readonly (string | undefined)[]): string {
  let text = '';
  let gap = false;
  for (const piece of pieces) {
    if (piece === undefined) {
      text = text.trimEnd();
      gap = true;
      continue;
    }
    const next = gap ? piece.replace(text === '' ? /^[\s,:]+/ : /^[ \t]+/, '') : piece;
    if (next === '') continue;
    const needsSpace = gap && text !== '' && !/^[\s.,;:!?)]/.test(next);
    text += needsSpace ? ` ${next}` : next;
    gap = false;
  }
  return text.trim();
}

function readable(inner: string): string {
  const bar = inner.indexOf('|');
  const target = bar === -1 ? inner : inner.slice(0, bar);
  const label = bar === -1 ? undefined : inner.slice(bar + 1);
  if (target.startsWith('@')) return `@${(label || target).replace(/^@/, '')}`;
  if (target.startsWith('#')) return `#${(label || target).replace(/^#/, '')}`;
  if (target.startsWith('!subteam^')) return label || `@${target.slice('!subteam^'.length)}`;
  if (target.startsWith('!date^')) return label ?? '';
  if (target.startsWith('!')) return `@${target.slice(1)}`;
  const address = target.replace(/^mailto:/, '');
  return hiddenIn(inner) === undefined ? address : `${label} (${address})`;
}

function hiddenIn(inner: string): string | undefined {
  const [target = '', label = ''] = inner.split(/\|([^]*)/);
  if (/^[@#!]/.test(target)) return undefined;
  const address = target.replace(/^mailto:/, '');
  return label === '' || bare(label) === bare(address) ? undefined : address;
}

function bare(url: string): string {
  return url.replace(/^[a-z]+:\/\//i, '').replace(/\/$/, '');
}

function unescape(text: string): string {
  return text.replace(/&(amp|lt|gt);/g, (_, name: string) => entities[name] ?? '');
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>' };

/** Escapes text, so that Slack shows it as it is, without mentions or links (H2). */
export function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Names by user id. Decisions use the id (A9). */
export type Names = ReadonlyMap<string, string>;

/** The first of these names that has something visible, on one line of at most 80 characters. */
export function slackName(...candidates: readonly (string | null | undefined)[]): string | undefined {
  for (const candidate of candidates) {
    const name = oneLine((candidate ?? '').replace(invisible, ''), 80);
    if (name !== '') return name;
  }
  return undefined;
}
