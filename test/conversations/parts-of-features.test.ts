import assert from 'node:assert/strict';
import { test } from 'node:test';
import { partsOfFeatures, turnPartsOf } from '../../src/conversations/parts-of-features.ts';
import type { Feature } from '../../src/core/feature.ts';
import { requesterOf } from '../../src/core/message.ts';
import { makeMessage } from '../support/make-message.ts';

test('I3 two features never answer the same command or the same button', () => {
  const answer = async () => undefined;
  const one = { name: 'one', commands: { memory: answer }, presses: { memory: answer } };
  const parts = partsOfFeatures([one]);
  assert.equal(parts.command('memory', 'all'), answer);
  assert.equal(parts.press('memory'), answer);
  assert.throws(() => partsOfFeatures([one, { name: 'two', commands: one.commands }]), /memory/);
  assert.throws(() => partsOfFeatures([one, { name: 'two', presses: one.presses }]), /same name/);
});

test('I3 X3 a feature may answer a part of another one’s command', () => {
  const all = async () => undefined;
  const part = async () => undefined;
  const when = (args: string): boolean => args.startsWith('zone');
  const parts = partsOfFeatures([
    { name: 'one', commands: { settings: { answer: all, isMeant: (args) => args === 'key' } } },
    { name: 'two', commands: { settings: { answer: part, when, isMeant: when } } },
  ]);
  assert.equal(parts.command('settings', 'zone of mine'), part);
  assert.equal(parts.command('settings', 'key'), all);
  assert.deepEqual(
    ['zone', 'key', 'all'].map((args) => parts.isMeant('settings', args)),
    [true, true, false],
  );
  assert.equal(parts.isMeant('memory', 'zone'), false);
  assert.deepEqual(parts.commands, ['settings']);
  assert.deepEqual(
    partsOfFeatures([{ name: 'two', commands: { settings: { answer: part, when } } }]).commands,
    [],
  );
});

const message = makeMessage({ text: 'hello' });

test('Q4 C6 features see a message in their order, and one that takes it keeps it from the others', async () => {
  const seen: string[] = [];
  const taking = (name: string, takes: boolean): Feature => ({
    name,
    takes: {
      async answer({ text }, isAddressed) {
        seen.push(`${name} ${text} ${isAddressed}`);
        return takes;
      },
    },
  });
  const parts = partsOfFeatures([
    taking('one', false),
    { name: 'none' },
    taking('two', true),
    taking('three', true),
  ]);
  assert.equal(await parts.take(message, true), true);
  assert.deepEqual(seen, ['one hello true', 'two hello true']);
  assert.equal(await partsOfFeatures([taking('four', false)]).take(message, false), false);
  assert.equal(seen.at(-1), 'four hello false');
  assert.equal(await partsOfFeatures([{ name: 'none' }]).take(message, true), false);
});

test('C6 each feature takes secrets out of what the one before it left; what is taken goes no further', async () => {
  const without = (what: string): Feature => ({
    name: what,
    takes: { secret: async (given) => ({ ...given, text: given.text.replace(what, '') }) },
  });
  const parts = partsOfFeatures([without('he'), { name: 'none' }, without('l')]);
  assert.deepEqual(await parts.withoutSecrets(message), { ...message, text: 'lo' });
  const taken: Feature = { name: 'taken', takes: { secret: async () => undefined } };
  assert.equal(await partsOfFeatures([taken, without('l')]).withoutSecrets(message), undefined);
  assert.equal(await partsOfFeatures([]).withoutSecrets(message), message);
});

test('Q4 every feature learns what was stopped, one after the other', async () => {
  const of = { sender: 'telegram:42', conversation: message.conversation, cancelled: ['A'] };
  const told: unknown[] = [];
  const listens: Feature = { name: 'one', stopped: async (given) => void told.push(given) };
  await partsOfFeatures([listens, { name: 'none' }, { ...listens, name: 'two' }]).stopped(of);
  assert.deepEqual(told, [of, of]);
});

test('N3 a kind of task and a command are found by their names, and others are not', () => {
  const handler = { handle: async () => undefined, giveUp: async () => undefined };
  const parts = partsOfFeatures([{ name: 'one', tasks: { routine: handler } }, { name: 'none' }]);
  assert.equal(parts.task('routine'), handler);
  assert.equal(parts.task('hook'), undefined);
  assert.equal(parts.command('memory', ''), undefined);
  assert.equal(parts.press('memory'), undefined);
});

test('K4 N1 the parts of a turn: all tools, all that is searchable, the first notes, footers in order', async () => {
  const turn = { message, requester: requesterOf(message), transcript: 't', key: 'k', whose: fails } as const;
  const entry = { kind: 'notice', text: 'x', at: 1 } as const;
  const question = { text: 'Sure?', buttons: [] };
  const said = {
    holder: 'team',
    asker: 'telegram:42',
    transcript: 't',
    conversation: message.conversation,
    at: 1,
    name: 'A',
    text: 'a',
  } as const;
  const one: Feature = {
    name: 'one',
    turn: async () => ({ searchable: async () => [said], footer: async () => ({ text: ' 1' }) }),
  };
  const two: Feature = {
    name: 'two',
    turn: async () => ({
      notes: async () => ({ text: 'two', taint: undefined }),
      searchable: async () => [said],
      footer: async () => ({ text: ' 2', question }),
    }),
  };
  const three: Feature = {
    name: 'three',
    turn: async () => ({
      notes: async () => ({ text: 'three', taint: undefined }),
      footer: async () => ({ text: ' 3', question: { ...question, text: 'Really?' } }),
    }),
  };
  const parts = await turnPartsOf([one, { name: 'none', turn: async () => undefined }, two, three], turn);
  assert.deepEqual(parts.tools, []);
  assert.deepEqual(await parts.notes([]), { text: 'two', taint: undefined });
  assert.deepEqual(await parts.searchable(entry, []), [said, said]);
  assert.deepEqual(await parts.footer([]), { text: ' 1 2 3', question });
  const bare = await turnPartsOf([{ name: 'none' }], turn);
  assert.equal(await bare.notes([]), undefined);
  assert.deepEqual(await bare.footer([]), { text: '', question: undefined });
});

const fails = async (): Promise<never> => assert.fail('nothing is looked up');
