const image = 1_600;
const leastDocument = 2_000;

/**
 * About how many tokens a request, or a part of one, takes: a quarter of a token for an ASCII character, half of one for
 * other letters, a whole one for what lies beyond (East Asian scripts, emoji). An image counts as 1,600, a PDF by its size.
 */
export function estimateTokens(value: unknown): number {
  if (typeof value === 'string') return Math.ceil(ofText(value));
  if (typeof value !== 'object' || value === null) return 1;
  if (Array.isArray(value)) return value.reduce<number>((sum, each) => sum + estimateTokens(each), 0);
  const { type, source } = value as Readonly<{ type?: unknown; source?: Readonly<{ size?: unknown }> }>;
  if (type === 'image') return image;
  if (type === 'document') {
    // On an entry it has its size itself, in a message its source has.
    const { size } = (source ?? value) as Readonly<{ size?: unknown }>;
    return Math.max(leastDocument, typeof size === 'number' ? Math.ceil(size / 30) : 0);
  }
  let tokens = 1;
  // Every call of a model is estimated, tools and all: pairs of key and value would be made for each part of it.
  for (const key of Object.keys(value))
    tokens += ofText(key) + 1 + estimateTokens((value as Readonly<Record<string, unknown>>)[key]);
  return tokens;
}

function ofText(text: string): number {
  let tokens = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    tokens += unit < 0x80 ? 0.25 : unit < 0x2e80 ? 0.5 : 1;
  }
  return tokens;
}
