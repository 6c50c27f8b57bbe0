import { startWholeBot } from '../support/whole-bot.ts';
import { groupBot, saidToOneContract, type GroupStage } from '../support/said-to-one-contract.ts';

const wordsOf = (text: unknown): string => (typeof text === 'string' ? text : '');

type Faulty = Parameters<GroupStage['fails']>[0];

saidToOneContract('Telegram', { steps: 48, atLeast: 12 }, async (t) => {
  const set = await startWholeBot(t, groupBot('telegram:1', ['telegram:1', 'telegram:2']));
  const { telegram } = set;
  const people = [telegram.person({ name: 'Ann', id: 1 }), telegram.person({ name: 'Ben', id: 2 })] as const;
  const room = telegram.group({ title: 'Team' });
  const of = (who: number) => people[who === 0 ? 0 : 1];
  await telegram.until('the menus', () => telegram.menus().has('all_group_chats'));
  const faultOf = {
    refused: { status: { code: 400, description: 'Bad Request: BOT_NOT_ADMIN' } },
    busy: { retryAfter: 1 },
    'cut before': { cut: 'before' },
    'cut after': { cut: 'after' },
  } as const satisfies Record<Faulty, object>;
  const asCommand = (text: string): string =>
    text.startsWith('/') ? text.replace(/^\/\w+/, '$&@test_bot') : `@test_bot ${text}`;
  return {
    set,
    says: (who, text) => of(who).says(asCommand(text), { in: room }),
    saysDirectly: (who, text) => of(who).says(text),
    buttons(who) {
      const person = of(who);
      const links = (label: string): boolean => label === 'Open a direct message';
      return [
        ...room
          .sent()
          .flatMap(({ id, buttons }) =>
            buttons.filter((one) => !links(one)).map((one) => () => person.presses(id, one, room)),
          ),
        ...room
          .shownTo(person)
          .flatMap(({ id, buttons }) => buttons.map((one) => () => person.pressesAlone(id, one, room))),
        ...person.dm.sent().flatMap(({ id, buttons }) => buttons.map((one) => () => person.presses(id, one))),
      ];
    },
    readByAll: () =>
      telegram
        .calls()
        .filter(({ args }) => String(args['chat_id']) === String(room.id))
        .filter(
          ({ args }) =>
            args['ephemeral_message_parameters'] === undefined && args['receiver_user_id'] === undefined,
        )
        .map(({ args }) => ({
          text: wordsOf(args['text']).replace(/<[^>]+>/g, ''),
          all: JSON.stringify(args),
        })),
    toOne: () =>
      people.reduce((sum, person) => sum + room.shownTo(person).length + person.dm.sent().length, 0),
    fails: (how) => telegram.faults.add({ method: 'sendMessage', ...faultOf[how] }),
    async settled(round) {
      while (telegram.faults.next('sendmessage') !== undefined);
      of(0).says(`@test_bot round=${round}`, { in: room });
      await room.nextMessage(`Heard ${round}.`);
    },
  };
});

// Slack allows one message a second.
saidToOneContract('Slack', { steps: 18, atLeast: 4 }, async (t) => {
  const set = await startWholeBot(t, {
    ...groupBot('slack:U1', ['slack:*']),
    channels: ['slack'],
  });
  const { slack } = set;
  const people = ['ann', 'ben'].map((name) => slack.workspace.addUser(name));
  const room = slack.workspace.addRoom('channel', { members: people.map(({ id }) => id) });
  const of = (who: number) => people[who] ?? people[0]!;
  await set.reconfigure(groupBot(`slack:${of(0).id}`, ['slack:*']).toml ?? '');
  await set.log.line(({ message }) => /config was changed/.test(message));
  const faultOf = {
    refused: { kind: 'error', error: 'user_not_in_channel' },
    busy: { kind: 'ratelimited', retryAfter: 1 },
    'cut before': { kind: 'cut', when: 'before' },
    'cut after': { kind: 'cut', when: 'after' },
  } as const satisfies Record<Faulty, object>;
  const labelsOf = (blocks: unknown): readonly string[] =>
    [...JSON.stringify(blocks ?? []).matchAll(/"type":"button","text":\{[^}]*?"text":"([^"]+)"/g)]
      .map(([, label = '']) => label)
      .filter((label) => label !== 'Open a direct message');
  const calls = () => slack.calls.all().filter(({ args }) => args['channel'] === room.id);
  return {
    set,
    says: (who, text) => slack.people.mention(of(who), room, text),
    saysDirectly: (who, text) => slack.people.dm(of(who), text),
    buttons(who) {
      const person = of(who);
      const dm = slack.workspace.dmWith(person.id);
      return [
        ...[room, dm].flatMap(({ messages }) =>
          messages
            .filter(({ deleted }) => !deleted)
            .flatMap((message) =>
              labelsOf(message.blocks).map((one) => () => slack.people.press(person, message, one)),
            ),
        ),
        ...slack.shown
          .all()
          .filter(({ kind, user }) => kind === 'ephemeral' && user === person.id)
          .flatMap((shown) =>
            labelsOf(shown['blocks']).map((one) => () => slack.people.pressAlone(person, shown, one)),
          ),
      ];
    },
    readByAll: () =>
      calls()
        .filter(({ method }) => method.startsWith('chat.') && method !== 'chat.postEphemeral')
        .map(({ args }) => ({
          text: wordsOf(args['text']).replace(/[`*]|<@\w+>\s?/g, (mark) =>
            mark.startsWith('<') ? 'X ' : '',
          ),
          all: JSON.stringify(args),
        })),
    toOne: () => slack.shown.all().filter(({ kind }) => kind === 'ephemeral').length,
    fails(how) {
      slack.faults.next('chat.postEphemeral', faultOf[how]);
      if (how !== 'refused') slack.faults.next('chat.postMessage', faultOf[how]);
    },
    async settled(round) {
      slack.faults.clear();
      slack.people.mention(of(0), room, `round=${round}`);
      await slack.posted(({ text }) => text.includes(`Heard ${round}.`));
    },
  };
});
