import type { TestContext } from 'node:test';
import { startWholeBot } from '../../test/support/whole-bot.ts';
import type { Drawing, Shown } from './draw.ts';
import { shownOnSlack } from './shown-on-slack.ts';
import { shownOnTelegram } from './shown-on-telegram.ts';

const words = 'why is the sky blue?';
const begins = 'Sunlight holds every colour. ';
const ends = 'Air scatters the short blue waves most, so blue light reaches you from all sides.';

/** The event with which the second part begins: before it are the start, and the first part's start, four pieces and end. */
const untilSecond = 7;

/** An answer while the model writes it, and when it is whole. */
export async function streamed(t: TestContext): Promise<readonly Drawing[]> {
  const held = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let asked = 0;
  const { telegram, slack } = await startWholeBot(t, {
    channels: ['telegram', 'slack'],
    toml: '[access]\ndm = "open"\nusers = ["slack:*"]\n',
    script: () => ({
      content: [
        { type: 'text', text: begins },
        { type: 'text', text: ends },
      ],
      wire: { hold: held[asked++]?.promise ?? Promise.resolve(), holdBefore: untilSecond },
    }),
  });
  const olga = telegram.person({ name: 'Olga' });
  olga.says(words);
  const isStart = (text: string): boolean => text.trim() === begins.trim();
  const draft = await telegram.until('the draft', () => olga.dm.drafts().find(({ text }) => isStart(text)));
  held[0]?.resolve();
  const whole = await olga.dm.nextMessage(/all sides/);

  const anna = slack.workspace.addUser('Olga');
  slack.people.post(anna, slack.workspace.dmWith(anna.id), words);
  const first = structuredClone(await slack.posted(({ text }) => isStart(text)));
  held[1]?.resolve();
  const last = await slack.posted(({ text }) => text.includes('all sides'));
  const question: Shown = { who: 'Olga', isBot: false, at: '18:20', spans: [{ text: words }] };
  const started: Shown = { who: 'Skillet', isBot: true, at: '18:20', spans: [{ text: draft.text }] };
  return [
    moments('Telegram', question, started, shownOnTelegram(whole, '18:20')),
    moments('Slack', question, shownOnSlack(first, '18:20'), shownOnSlack(last, '18:20')),
  ];
}

function moments(platform: Drawing['platform'], question: Shown, started: Shown, whole: Shown): Drawing {
  const growing = { ...started, quote: 'while it is written', spans: [...started.spans, { text: ' ▍' }] };
  return { platform, title: 'Skillet', shown: [question, growing, { ...whole, quote: 'a moment later' }] };
}
