import type { Quote } from '../../core/message.ts';
import { textsIn } from '../texts-in.ts';
import { escapeText } from './escape-text.ts';
import type { Said, Shared } from './payloads.ts';
import { plainSlackText } from './plain-text.ts';
import { shownName, type Names } from './shown-name.ts';
import type { SlackIdentity } from './slack-identity.ts';
import { toAttachments } from './to-attachments.ts';

/** The words of a message as Slack markup. Some have blocks only. */
export function markupOf({ text, blocks }: Pick<Said, 'text' | 'blocks'>): string {
  if (text) return text;
  // What is typed as mrkdwn is escaped; other text is not.
  return textsIn(blocks, (piece, { type }) => (type === 'mrkdwn' ? piece : escapeText(piece)));
}

/** What hangs on a message that its sender did not write: shared messages, previews of links, cards of apps (M11). */
export function sharedOf(
  { attachments }: Pick<Said, 'attachments'>,
  me: SlackIdentity,
  names: Names,
): readonly Quote[] {
  return (attachments ?? []).flatMap((each) => {
    const text = textOf(each, me, names);
    const attachments = toAttachments(each.files);
    const files = attachments.length === 0 ? {} : { attachments };
    return text === '' ? [] : [{ ...authorOf(each, me, names), text, note: noteOf(each), ...files }];
  });
}

function textOf({ title, text, fallback, files }: Shared, me: SlackIdentity, names: Names): string {
  const words = [title, text || (title ? '' : fallback)].map(
    (piece) => plainSlackText(piece ?? '', me.user, names).text,
  );
  const carried = toAttachments(files).map(({ name }) => `[${name}]`);
  return [...words, ...carried].filter((piece) => piece !== '').join('\n');
}

function authorOf(
  { author_id: id, author_name: name, service_name: service }: Shared,
  me: SlackIdentity,
  names: Names,
) {
  const shown = shownName(name, names.get(id ?? ''), service) ?? id ?? 'somebody';
  if (id === me.user) return { name: shown, own: true };
  return { name: shown, own: false, ...(id ? { sender: `slack:${id}` } : {}) };
}

function noteOf({ is_share: share, is_msg_unfurl: linked, from_url: url }: Shared): string {
  if (share) return 'shared message';
  if (linked) return 'linked message';
  return url ? `preview of ${url}` : 'attached by an app';
}
