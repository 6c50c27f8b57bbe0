import type { TestContext } from 'node:test';
import { pdfOf } from '../../test/support/sent-files.ts';
import { startWholeBot, type WholeBotOptions } from '../../test/support/whole-bot.ts';
import { boat } from './boat.ts';
import type { Drawing, Shown } from './draw.ts';
import { shownOnSlack } from './shown-on-slack.ts';
import { shownOnTelegram } from './shown-on-telegram.ts';

const toml = '[access]\ndm = "open"\nusers = ["slack:*"]\n';

/** Knows one picture, and counts the pages of a document: of what it was shown last. */
const script: NonNullable<WholeBotOptions['script']> = ({ messages }) => {
  const blocks = messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content));
  const shown = blocks.findLast(({ type }) => type === 'image' || type === 'document');
  if (shown === undefined || !('source' in shown) || shown.source.type !== 'base64')
    return 'I see no file here.';
  const bytes = Buffer.from(shown.source.data, 'base64');
  if (shown.type === 'document')
    return `It has **${bytes.toString('latin1').split('/Type /Page\n').length - 1} pages**.`;
  return bytes.equals(boat())
    ? 'A **sailing boat** on a calm sea, with the sun going down behind it.'
    : 'I do not know what this is.';
};

/** Somebody asks about a photo. */
export async function photo(t: TestContext): Promise<readonly Drawing[]> {
  const { telegram, slack } = await startWholeBot(t, { channels: ['telegram', 'slack'], toml, script });
  const olga = telegram.person({ name: 'Olga' });
  const words = 'what is on it?';
  olga.sends({ kind: 'photo', bytes: boat(), caption: words });
  const answer = await olga.dm.nextMessage(/boat/);
  const picture = `data:image/png;base64,${boat().toString('base64')}`;
  const question = asked(words, { name: 'photo.jpg', picture });
  const anna = slack.workspace.addUser('Olga');
  const sent = { name: 'photo.png', bytes: boat(), mimetype: 'image/png' };
  slack.people.post(anna, slack.workspace.dmWith(anna.id), words, {
    files: [slack.sentFile(sent)],
    subtype: 'file_share',
  });
  const inSlack = await slack.posted(({ text }) => text.includes('boat'));
  return [
    drawing('Telegram', question, shownOnTelegram(answer, '18:20')),
    drawing('Slack', question, shownOnSlack(inSlack, '18:20')),
  ];
}

/** Somebody asks about a PDF. */
export async function pdf(t: TestContext): Promise<readonly Drawing[]> {
  const { telegram, slack } = await startWholeBot(t, { channels: ['telegram', 'slack'], toml, script });
  const olga = telegram.person({ name: 'Olga' });
  const [words, name] = ['how many pages do I have to read?', 'lease.pdf'];
  olga.sends({ kind: 'document', name, bytes: pdfOf('lease', 12), caption: words });
  const answer = await olga.dm.nextMessage(/pages/);
  const anna = slack.workspace.addUser('Olga');
  const sent = { name, bytes: pdfOf('lease', 12), mimetype: 'application/pdf' };
  slack.people.post(anna, slack.workspace.dmWith(anna.id), words, {
    files: [slack.sentFile(sent)],
    subtype: 'file_share',
  });
  const inSlack = await slack.posted(({ text }) => text.includes('pages'));
  return [
    drawing('Telegram', asked(words, { name }), shownOnTelegram(answer, '18:20')),
    drawing('Slack', asked(words, { name }), shownOnSlack(inSlack, '18:20')),
  ];
}

function asked(text: string, file: Readonly<{ name: string; picture?: string }>): Shown {
  return { who: 'Olga', isBot: false, at: '18:20', spans: [{ text }], files: [file] };
}

function drawing(platform: Drawing['platform'], ...shown: readonly Shown[]): Drawing {
  return { platform, title: 'Skillet', shown };
}
