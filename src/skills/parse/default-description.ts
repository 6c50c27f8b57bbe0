/** First paragraph of prose in a body, on one line: headings, code, comments, rules, tables and HTML are passed over (F6). */
export function defaultDescription(body: string): string | undefined {
  let inFence: string | undefined;
  const paragraph: string[] = [];
  for (const line of body.split('\n')) {
    const text = line.trim();
    const fence = /^(?:```+|~~~+)/.exec(text)?.[0].slice(0, 3);
    if (fence !== undefined) {
      if (paragraph.length > 0) break;
      if (inFence === undefined) inFence = fence;
      else if (inFence === fence) inFence = undefined;
      continue;
    }
    if (inFence !== undefined) continue;
    if (text === '' || notProse.test(text)) {
      if (paragraph.length > 0) break;
      continue;
    }
    paragraph.push(text);
  }
  return paragraph.length === 0 ? undefined : paragraph.join(' ');
}

const notProse = /^(?:#{1,6}(?:\s|$)|<|\||!\[|(?:[-*_=]\s*){3,}$)/;
