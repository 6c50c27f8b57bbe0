import type { SentMessage } from '../../test/servers/telegram/room.ts';
import type { Shown, Span } from './draw.ts';

const styles: Readonly<Record<string, Span['style']>> = {
  bold: 'bold',
  italic: 'italic',
  strikethrough: 'strike',
  code: 'code',
  pre: 'code',
  text_link: 'link',
  url: 'link',
  bot_command: 'link',
  mention: 'link',
};

/** A message of the bot as the Telegram server received it. */
export function shownOnTelegram(sent: SentMessage, at: string, quote?: string): Shown {
  const { text, entities, buttons, file } = sent;
  const ends = new Set([
    0,
    text.length,
    ...entities.flatMap(({ offset, length }) => [offset, offset + length]),
  ]);
  const cuts = [...ends].sort((one, other) => one - other);
  const spans = cuts.slice(1).map((end, index): Span => {
    const start = cuts[index] ?? 0;
    const style = entities
      .filter(({ offset, length }) => offset <= start && offset + length >= end)
      .map(({ type }) => styles[type])
      .find((each) => each !== undefined);
    return { text: text.slice(start, end), ...(style === undefined ? {} : { style }) };
  });
  return {
    who: 'Skillet',
    isBot: true,
    at,
    spans,
    ...(quote === undefined ? {} : { quote }),
    ...(buttons.length === 0 ? {} : { buttons }),
    ...(file === undefined ? {} : { files: [{ name: file.name }] }),
  };
}
