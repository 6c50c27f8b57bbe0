import { writeSync } from 'node:fs';
import { openStore } from '../../src/store/open-store.ts';
import { makeMessage } from '../support/make-message.ts';

/**
 * Works as a bot does until it is killed: accepts messages, journals, answers every second one. Each line is written when
 * the promise behind it has resolved: from then on the store must hold what the line says.
 */
const [url = '', round = ''] = process.argv.slice(2);
const store = await openStore(url);
const say = (line: string): void => void writeSync(1, `${line}\n`);

for (let n = 0; ; n++) {
  const id = `${round}-${n}`;
  const conversation = { channel: 'telegram', chat: id };
  const accepting = [id, `${id}+`].map(async (key) => {
    await store.inbox.accept(makeMessage({ id: key, conversation }), { now: 1 });
    say(`accepted ${key}`);
  });
  await Promise.all(accepting);
  await store.inbox.take(`telegram:${id}`, 1);
  await store.commit({ entries: [{ transcript: id, entry: { kind: 'notice', text: id, at: 1 } }] });
  say(`journalled ${id}`);
  await store.commit({ outbox: [{ key: `${id}#0`, conversation, part: { markdown: id } }], done: id });
  say(`answered ${id}`);
}
