import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MessagesRequest } from '../support/messages-server/request-shape.ts';
import { startWholeBot } from '../support/whole-bot.ts';

const lookup =
  '---\nname: lookup\ndescription: Looks things up.\n---\nLook it up and say what you found.\n';
const open = '[access]\ndm = "open"\n[skills]\nbundled = false\n';

/** An answer whose end is held back. */
const held = (text: string, hold: Promise<void>) => ({
  content: [{ type: 'text' as const, text }],
  wire: { hold },
});
const textOf = (body: MessagesRequest): string => JSON.stringify(body.messages);
const isRun = (body: MessagesRequest): boolean =>
  JSON.stringify(body.system).includes('You carry out the skill');
const useLookup = {
  content: [{ type: 'tool_use' as const, name: 'use_skill', input: { skill: 'lookup', message: 'x' } }],
  stopReason: 'tool_use' as const,
};

test('D7 a run that was under way when the bot stopped, and may not go on after the restart, is CANCELLED', async (t) => {
  const began = Promise.withResolvers<void>();
  const over = Promise.withResolvers<void>();
  const toml = '[access]\ndm = "open"\n[bot]\nshutdown_seconds = 1\n';
  const set = await startWholeBot(t, {
    toml,
    skills: { lookup },
    script: (body) => {
      if (isRun(body)) {
        began.resolve();
        return held('cut off', over.promise);
      }
      return /tool_result/.test(textOf(body)) ? 'It was ended.' : useLookup;
    },
  });
  const ann = set.telegram.person({ name: 'Ann' });
  ann.says('look x up');
  await began.promise;
  const stopping = set.reconfigure(`${toml}[skills.lookup]\nenabled = false\n`);
  await stopping;
  const again = await set.restart();
  over.resolve();
  assert.equal((await ann.dm.nextMessage()).text, 'It was ended.');
  await again.bot.idle();
  assert.match(textOf(set.messages.requests.at(-1)!.body), /CANCELLED[^"]*the run of lookup was ended/);
  assert.equal(ann.dm.everSent().length, 1);
});
