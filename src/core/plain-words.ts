import { createHash } from 'node:crypto';

/** Words in several languages that replace a button or a command (H11, H14). */
const words: Readonly<Record<'stop' | 'yes' | 'no' | 'always', ReadonlySet<string>>> = {
  stop: wordSet('stop stopp halt para parar pare detente arrête arrêtez стоп やめて 止めて 停 停止'),
  yes: wordSet('yes y yep yeah ja sí si oui sim да はい 是 是的'),
  no: wordSet('no n nope nein non não nao нет いいえ 不 否'),
  always: wordSet('always immer siempre toujours sempre всегда 常に 始终'),
};

export type PlainWord = keyof typeof words;

/** Which of these words a text is, in any language and with a full stop or without. Undefined: none alone. */
export function plainWord(text: string): PlainWord | undefined {
  const said = text
    .normalize('NFC')
    .trim()
    .replace(/[\s.!。！]+$/u, '')
    .toLowerCase();
  return (Object.keys(words) as PlainWord[]).find((kind) => words[kind].has(said));
}

/** Letters and digits of codes, without those that look alike. */
const alphabet = '23456789ABCDEFGHJKMNPQRSTUVWXYZ';

/** Makes the code of a question from what it is about. It is the same for the same text. */
export function questionCode(about: string): string {
  const bytes = createHash('sha256').update(about).digest();
  return [...bytes.subarray(0, 8)].map((byte) => alphabet[byte % alphabet.length]).join('');
}

/** Matches a word and a question's code with nothing else, as the question prints them (T8). */
const coded = /^\s*`?([\p{L}\p{M}]+)\s+`?([0-9A-Za-z]{8})`?\s*$/u;

/** An answer to a question by its code, such as "yes 7KQ2M9XA". Undefined: the text is none. */
export function codedAnswer(
  text: string,
): Readonly<{ word: Exclude<PlainWord, 'stop'>; code: string }> | undefined {
  const [, typed = '', code = ''] = coded.exec(text.normalize('NFC')) ?? [];
  const word = plainWord(typed);
  return word === undefined || word === 'stop' ? undefined : { word, code: code.toUpperCase() };
}

function wordSet(list: string): ReadonlySet<string> {
  return new Set(list.split(' '));
}
