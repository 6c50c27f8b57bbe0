/** What the text of a Slack message says once Slack's markup is undone. */
export type SlackText = Readonly<{
  /** Readable text without the bot's own mention. */
  text: string;
  /** The bot is mentioned. */
  mentioned: boolean;
  /** Somebody else is: a person, a user group, or everybody. */
  mentionsOthers: boolean;
}>;

/**
 * Undoes Slack's escapes and `<…>` forms. Only what Slack itself marked counts as a mention: text that a person typed
 * arrives escaped, so it can forge none.
 */
export function plainSlackText(source: string, botUser: string): SlackText {
  const pieces = source.split(/(<[^<>]*>)/).map((piece) => {
    const inner = /^<([^<>]*)>$/.exec(piece)?.[1];
    if (inner === undefined) return { text: unescape(piece) };
    if (inner === `@${botUser}` || inner.startsWith(`@${botUser}|`)) return 'own mention';
    const mention = /^(?:@|!subteam\^|!here|!channel|!everyone)/.test(inner);
    return { text: unescape(readable(inner)), mention };
  });
  return {
    text: withoutOwnMention(pieces.map((piece) => (piece === 'own mention' ? undefined : piece.text))),
    mentioned: pieces.includes('own mention'),
    mentionsOthers: pieces.some((piece) => piece !== 'own mention' && piece.mention === true),
  };
}

/** Joins the pieces; where the bot's mention stood (`undefined`), one space is left at most, and nothing at the start. */
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

/** The inside of one `<…>`: a mention, a channel, a date, a link. */
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
  return label === undefined || label === '' || bare(label) === bare(address)
    ? address
    : `${label} (${address})`;
}

function bare(url: string): string {
  return url.replace(/^[a-z]+:\/\//i, '').replace(/\/$/, '');
}

function unescape(text: string): string {
  return text.replace(/&(amp|lt|gt);/g, (_, name: string) => entities[name] ?? '');
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>' };
