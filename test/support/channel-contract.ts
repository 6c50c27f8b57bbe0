import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { Channel, ChannelEvent, OnEvent, OutgoingPart } from '../../src/core/channel.ts';
import type { Message } from '../../src/core/message.ts';
import { keptPlaceholder } from './kept-placeholder.ts';
import { createWatch } from '../servers/slack/watch.ts';
import { equalData } from './equal-data.ts';

/** A started channel, and a person at its other end who talks to the bot in private. */
export type ChannelStage = Readonly<{
  channel: Channel;
  says(text: string): void;
  /** Presses the button with this label under the newest message of the bot. */
  presses(label: string): void;
  /** All that the bot shows the person, the oldest first, in whatever form. */
  seen(): string;
}>;

/** `t`: the test whose end stops the channel. */
export type OpenStage = (t: TestContext, onEvent: OnEvent) => Promise<ChannelStage>;

/** What every channel does, whatever it connects to (H1): run from the test file of each. */
export function channelContract(name: string, open: OpenStage): void {
  /** `refuse`: how many events are not stored. */
  async function stage(t: TestContext, { refuse = 0 } = {}) {
    const events = createWatch<ChannelEvent>();
    let refused = 0;
    const made = await open(t, async (event) => {
      if (refused++ < refuse) throw new Error('the store is full');
      events.add(event);
    });
    const heard = async (text: string): Promise<Message> => {
      const event = await events.until((one) => one.type === 'message' && one.message.text === text);
      return event.type === 'message' ? event.message : assert.fail();
    };
    const asks = async (text: string): Promise<Message> => {
      made.says(text);
      return heard(text);
    };
    const answer = async (message: Message, part: OutgoingPart, key = `${message.id}#0`) => {
      const receipt = await made.channel.send(message.conversation, part, key);
      const pieces = await made.channel.split(part.markdown);
      assert.ok(
        pieces.every((piece) => piece === part.markdown),
        'one message',
      );
      return receipt;
    };
    return { ...made, events, heard, asks, answer };
  }

  test(`H1 ${name}: a message is plain data with ids of its own, an address and a chat type`, async (t) => {
    const { channel, asks } = await stage(t);
    const [first, second] = [await asks('hello there'), await asks('/dice 2d6  now')];
    equalData(JSON.parse(JSON.stringify(first)), first);
    for (const message of [first, second]) {
      assert.ok(message.id.startsWith(`${channel.name}:`), message.id);
      assert.ok(message.sender.id.startsWith(`${channel.name}:`), message.sender.id);
      assert.equal(message.conversation.channel, channel.name);
      assert.deepEqual(
        [message.chatType, message.external, message.addressed, message.sender.kind, message.attachments],
        ['private', false, true, 'person', []],
      );
      assert.ok(Math.abs(message.sentAt - Date.now()) < 60_000);
    }
    assert.notEqual(first.id, second.id);
    assert.deepEqual(second.conversation, first.conversation);
    assert.equal(first.command, undefined);
    const looked = await channel.lookUpChat(first.conversation);
    equalData(looked, { chatType: 'private', external: false, person: first.sender.id });
  });

  test(`H1 Q1 ${name}: what could not be stored ends nothing, and what comes after it arrives`, async (t) => {
    const { says, heard } = await stage(t, { refuse: 1 });
    says('lost or late');
    says('after it');
    assert.equal((await heard('after it')).text, 'after it');
  });

  test(`H1 ${name}: answers go where the question came from, in the order of asking`, async (t) => {
    const { asks, answer, seen } = await stage(t);
    const message = await asks('count');
    const words = ['one', 'two', 'three'];
    const receipts = await Promise.all(
      words.map((word, index) => answer(message, { markdown: `**${word}** done` }, `${message.id}#${index}`)),
    );
    assert.equal(new Set(receipts.map(({ id }) => id)).size, 3);
    assert.match(seen(), /one[^]*two[^]*three/);
  });

  test(`H1 Q6 ${name}: begin comes right before the platform; where it fails nothing is sent`, async (t) => {
    const { channel, asks, seen } = await stage(t);
    const { conversation, id } = await asks('begin');
    let seenAtBegin = '';
    await channel.send(conversation, { markdown: 'first words' }, `${id}#0`, async () => {
      seenAtBegin = seen();
    });
    assert.doesNotMatch(seenAtBegin, /first words/);
    assert.match(seen(), /first words/);
    const failed = new Error('the queue was lost');
    await assert.rejects(
      channel.send(conversation, { markdown: 'second words' }, `${id}#1`, () => Promise.reject(failed)),
      failed,
    );
    assert.doesNotMatch(seen(), /second words/);
  });

  test(`H1 H2 ${name}: any text is cut into pieces that can be sent, and no word is lost`, async (t) => {
    const { channel, asks, seen } = await stage(t);
    assert.deepEqual(await channel.split(' \n\t'), []);
    const { conversation, id } = await asks('a long answer');
    const words = Array.from({ length: 3_000 }, (_, index) => `word${index}`);
    const pieces = await channel.split(
      `${words.join(' ')}\n\n\`\`\`js\n${'line();\n'.repeat(20)}\`\`\`\n\n| a | b |\n|---|---|\n| c | d |`,
    );
    for (const [index, markdown] of pieces.entries())
      await channel.send(conversation, { markdown }, `${id}#${index}`);
    const shown = new Set(seen().match(/word\d+/g));
    assert.deepEqual(
      words.filter((word) => !shown.has(word)),
      [],
    );
    assert.ok(channel.files.largest > 0 && channel.files.fitsCaption('a caption'));
  });

  test(`H1 ${name}: a press says what was pressed, by whom and on which message`, async (t) => {
    const { asks, answer, presses, events } = await stage(t);
    const message = await asks('may I?');
    const buttons = [
      { label: 'Approve', action: 'yes:1' },
      { label: 'Deny', action: 'no:1' },
    ];
    const receipt = await answer(message, { markdown: 'Shall I?', buttons });
    presses('Deny');
    const event = await events.until(({ type }) => type === 'press');
    assert.ok(event.type === 'press');
    const { press } = event;
    assert.deepEqual(
      [press.action, press.receipt?.id, press.sender.id, press.conversation, press.chatType],
      ['no:1', receipt.id, message.sender.id, message.conversation, 'private'],
    );
  });

  test(`H1 Q6 ${name}: a message can be changed, twice in the same way, and be gone already when it is removed`, async (t) => {
    const { channel, asks, answer, seen } = await stage(t);
    const message = await asks('change');
    const receipt = await answer(message, { markdown: 'draft' });
    for (const markdown of ['final words', 'final words']) {
      await channel.edit(message.conversation, receipt, { markdown });
      assert.match(seen(), /final words/);
    }
    await channel.remove(message.conversation, receipt);
    await channel.remove(message.conversation, receipt);
    assert.equal(await channel.find(message.conversation, `${message.id}#never`), undefined);
  });

  test(`H1 U13 ${name}: a status never fails, and what follows it arrives`, async (t) => {
    const { channel, asks, answer, seen } = await stage(t);
    const message = await asks('work');
    const placeholder = keptPlaceholder({ key: `${message.id}#0!status` });
    for (const status of [
      { kind: 'typing' },
      { kind: 'line', text: 'dice: step 1' },
      undefined,
      undefined,
    ] as const)
      await channel.status(message.conversation, status, placeholder);
    await channel.status({ ...message.conversation, chat: 'nowhere' }, { kind: 'typing' }, keptPlaceholder());
    await channel.status({ ...message.conversation, chat: 'nowhere' }, undefined, keptPlaceholder());
    await answer(message, { markdown: 'the result' });
    assert.match(seen(), /the result/);
  });

  test(`H1 I1 A11 ${name}: menus are set without a throw, and a link carries a skill's name at most`, async (t) => {
    const { channel } = await stage(t);
    const entry = { name: 'code-review', description: 'Reviews code.', hint: '[file]' };
    const menus = { private: [entry, { name: 'X'.repeat(99), description: '' }], group: [entry] };
    assert.ok(Array.isArray(await channel.setMenus(menus)));
    const link = channel.directLink('code-review');
    assert.ok(link === undefined || URL.canParse(link), link);
  });

  test(`H1 ${name}: stop waits for what is being stored, and nothing comes after it`, async (t) => {
    const storing = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    let stored = 0;
    const { channel, says } = await open(t, async () => {
      begun.resolve();
      await storing.promise;
      stored += 1;
    });
    says('the last one');
    await begun.promise;
    let stopped = false;
    const stopping = channel.stop().then(() => (stopped = true));
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(stopped, false);
    storing.resolve();
    await stopping;
    assert.equal(stored, 1);
    says('too late');
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(stored, 1);
  });
}
