type Fields = Readonly<Record<string, unknown>>;

/**
 * The words in a tree of blocks, such as Slack's Block Kit or Telegram's rich messages. `leaf` writes one piece of
 * text. `mark` writes a node that has something other than text to say, and returns undefined for the others.
 */
export function textsIn(
  node: unknown,
  leaf: (text: string, node: Fields) => string = (text) => text,
  mark: (node: Fields) => string | undefined = () => undefined,
): string {
  if (typeof node === 'string') return leaf(node, {});
  if (Array.isArray(node)) return joined(node, (each) => textsIn(each, leaf, mark));
  if (typeof node !== 'object' || node === null) return '';
  const fields = node as Fields;
  const marked = mark(fields);
  if (marked !== undefined) return marked;
  if (typeof fields['text'] === 'string') return leaf(fields['text'], fields);
  const found = inside.map((key) => textsIn(fields[key], leaf, mark)).filter((text) => text !== '');
  if (found.length > 0) return found.join('\n');
  const { url } = fields;
  return typeof url === 'string' ? leaf(url, fields) : '';
}

const inside = ['text', 'fields', 'elements', 'blocks', 'items', 'rows', 'cells', 'caption'];

function joined(nodes: readonly unknown[], write: (node: unknown) => string): string {
  const inLine = nodes.every((node) => typeof node === 'string' || isPiece(node));
  return nodes
    .map(write)
    .filter((text) => text !== '')
    .join(inLine ? '' : '\n');
}

function isPiece(node: unknown): boolean {
  if (typeof node !== 'object' || node === null) return false;
  const { type } = node as Readonly<Record<string, unknown>>;
  return typeof type === 'string' && pieces.has(type);
}

const pieces: ReadonlySet<string> = new Set([
  ...['text', 'link', 'user', 'channel', 'emoji', 'usergroup', 'broadcast', 'date'],
  ...['bold', 'italic', 'underline', 'strikethrough', 'spoiler', 'code', 'url', 'marked', 'text_mention'],
  ...['subscript', 'superscript', 'date_time', 'mention', 'hashtag', 'cashtag', 'bot_command'],
]);
