/** What people write where a button or a command would do, in the languages of the bot (H11, H14). */
const words: Readonly<Record<'stop' | 'yes' | 'no', ReadonlySet<string>>> = {
  stop: new Set([
    'stop',
    'stopp',
    'halt',
    'para',
    'parar',
    'pare',
    'detente',
    'arrête',
    'arrêtez',
    'стоп',
    'やめて',
    '止めて',
    '停',
    '停止',
  ]),
  yes: new Set(['yes', 'y', 'yep', 'yeah', 'ja', 'sí', 'si', 'oui', 'sim', 'да', 'はい', '是', '是的']),
  no: new Set(['no', 'n', 'nope', 'nein', 'non', 'não', 'nao', 'нет', 'いいえ', '不', '否']),
};

/** Which of them is all that a text says. */
export function plainWord(text: string): keyof typeof words | undefined {
  const said = text
    .normalize('NFC')
    .trim()
    .replace(/[\s.!。！]+$/u, '')
    .toLowerCase();
  return (Object.keys(words) as (keyof typeof words)[]).find((kind) => words[kind].has(said));
}
