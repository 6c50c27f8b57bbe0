import { around, labelled } from '../lib/text/escape-labels.ts';

/** One thing that a user entry shows of somebody: overheard before, or answered to. */
export type Quoted = Readonly<{
  /** `id="telegram:42"`, where it says whose it is. */
  id: string | undefined;
  text: string;
}>;

/** What stands where something was forgotten. */
export const removed = '[removed]';

/** How a label names a person. */
export function idOnLabel(sender: string): string {
  return /id="[^"]*"/.exec(around('message', [], { id: sender }))?.[0] ?? '';
}

/** Whether the text is of a chat with several people: there the person's own words are labelled, and nobody else can write a label (M8). */
export function isOfRoom(text: string): boolean {
  return text.includes('<message ');
}

/** The text with what is quoted of a person replaced (M10, Q12). */
export function withoutQuotes(text: string, isTheirs: (quoted: Quoted) => boolean): string {
  return text.replace(
    piece,
    (whole, label: 'message' | 'quote' | 'file', attributes: string, quoted: string) => {
      const id = /id="[^"]*"/.exec(attributes)?.[0];
      return isTheirs({ id, text: quoted }) ? labelled(label, removed, { from: removed }) : whole;
    },
  );
}

/** No content can hold a label of its own, so the first end is the end. */
const piece = /<(message|quote|file)((?: [a-z]+="[^"]*")*)>\n([^]*?)\n<\/\1>/g;
