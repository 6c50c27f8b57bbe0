import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { askControl, controlPath, serveControl } from '../../src/channels/terminal/control.ts';
import { operateHere } from '../support/operate-here.ts';
import { quietLog } from '../support/quiet-log.ts';

test('Q9 the control socket refuses an unknown operation, wrong input and another version, each with what to do', async (t) => {
  const { operate, folder } = await operateHere(t);
  const socket = controlPath(folder);
  const control = await serveControl({
    path: socket,
    operate,
    takeTerminal: () => () => undefined,
    log: quietLog(),
  });
  t.after(control.close);
  const ask = (name: string, input?: unknown) => askControl(socket, name, input);
  assert.equal((await ask('inbox list', 'waiting'))?.data instanceof Array, true);
  await assert.rejects(ask('pair everybody'), /no operation `pair everybody`.*restart the bot/s);
  await assert.rejects(ask('toString'), /no operation `toString`/);
  await assert.rejects(ask('inbox list', 'all'), /`inbox list` can't be done with this input.*"dead"/s);
  await assert.rejects(ask('backup', 'here.db'), /absolute path/);
  const wrong = { lines: 0, person: '42', skill: '', since: 'soon', kind: 'all' };
  await assert.rejects(ask('audit tail', '20'), /`audit tail` can't be .*write an object with "lines"/s);
  await assert.rejects(ask('audit tail', { lines: '20' }), /write how many lines, such as 20\n.*at lines/s);
  await assert.rejects(ask('audit tail', wrong), (error: Error) => {
    for (const [key, fix] of Object.entries({
      lines: 'write how many lines, such as 20',
      person: 'write a whole id, such as "telegram:42"',
      skill: 'write the name of a skill',
      since: 'write a time such as "2026-11-24T00:00:00Z"',
      kind: 'write one of approval, ',
    }))
      assert.match(error.message, new RegExp(`✖ ${fix}.*\\n +→ at ${key}`));
    return true;
  });
  await assert.rejects(ask('pair list', 'all'), /`pair list` can't be done with this input/);
  for (const line of [
    { operation: 'pair list', argument: '' },
    { version: '0.0.0', operation: 'pair list' },
    { version: '0.0.0', terminal: { user: 'ann', as: 'private', patient: false } },
  ])
    assert.match(await saidTo(socket, line), /"ok":false.*another version\. Restart the bot/);
});

async function saidTo(at: string, line: unknown): Promise<string> {
  const socket = connect(at);
  socket.end(`${JSON.stringify(line)}\n`);
  return (await socket.setEncoding('utf8').toArray()).join('');
}

test('S8 T8 G6 approvals and questions about money can be answered only while a bot runs', async (t) => {
  const { operate } = await operateHere(t, false);
  const answer = { id: 'ABCD2345', answer: 'approve', by: 'telegram:7' };
  await assert.rejects(operate('approval answer', answer), /needs a running bot: run `skillet start` first/);
  assert.deepEqual(await operate('approval list', undefined), []);
  const { operate: here } = await operateHere(t);
  await assert.rejects(here('approval answer', answer), /there is no approval ABCD2345/);
  await assert.rejects(
    here('approval answer', { ...answer, answer: 'always' }),
    /can't be done with this input/,
  );
  const money = { ...answer, answer: 'allow' };
  await assert.rejects(operate('money answer', money), /needs a running bot: run `skillet start` first/);
  assert.deepEqual(await operate('money list', undefined), []);
  await assert.rejects(here('money answer', money), /no question about money ABCD2345/);
});

test('L1 every operation that says so works without input, twice, and changes nothing', async (t) => {
  const { operate, rows } = await operateHere(t);
  const inputs: Readonly<Record<string, unknown>> = {
    'inbox list': 'waiting',
    'audit tail': { lines: 20 },
    stats: '2026-01-01',
    'memory list': 'telegram:42',
    rehearse: '2026-01-01T00:00:00Z',
    'rehearse sample': { since: '2026-01-01T00:00:00Z', most: 20, private: true },
    'rehearse turn': { transcript: 'telegram:42', item: 'telegram:42:1', private: true },
    'skill text': 'dice',
    'turn list': { conversation: 'telegram:42', most: 20 },
    'access decisions': {
      ...{ sender: 'telegram:42', kind: 'person', channel: 'telegram', chat: '42' },
      ...{ chatType: 'private', external: false, addressed: true },
    },
  };
  const names = [...rows].flatMap(([name, { readOnly }]) =>
    // One is about a thumb, and nobody has given one; the other needs a record.
    readOnly && name !== 'feedback case' && name !== 'audit key' ? [name] : [],
  );
  assert.ok(names.length > 8);
  // What needs an input and is not named here is about a person.
  const inputOf = (name: string): unknown =>
    inputs[name] ?? (rows.get(name)?.input.safeParse(undefined).success === true ? undefined : 'telegram:42');
  // Time goes on between the two.
  const steady = (key: string, value: unknown): unknown => (key === 'upSeconds' ? undefined : value);
  const read = async () =>
    Promise.all(names.map(async (name) => JSON.stringify(await operate(name, inputOf(name)), steady)));
  assert.deepEqual(await read(), await read());
});
