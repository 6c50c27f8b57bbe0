import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MessagesRequest } from '../servers/messages/request-shape.ts';
import { talk } from '../support/talk.ts';
import { startWholeBot, type WholeBotOptions } from '../support/whole-bot.ts';

const toml =
  '[access]\ndm = "open"\ngroups_mode = "open"\ngroup_users = ["*"]\n[bot]\nshutdown_seconds = 1\n';
const skills = {
  book: '---\nname: book\ndescription: Books a room.\nmax-iterations: 3\n---\nBook the room for the day that is wanted.\n',
};
const isRun = (body: MessagesRequest): boolean =>
  JSON.stringify(body.system).includes('You carry out the skill');
/** Without what others said before. */
const lastOf = (body: MessagesRequest): string =>
  JSON.stringify(body.messages.at(-1)).replace(/<background.*<\/background>/, '');
const call = (id: string, name: string, input: object) => ({
  content: [{ type: 'tool_use' as const, id, name, input }],
});
/** The run that a request names, in the word of the host or in the result of `use_skill`. */
const resumable = (text: string): string | undefined => /\\"resume\\": \\"([0-9a-f]{16})\\"/.exec(text)?.[1];

/** A model whose runs ask for the day, and which hands answers on, but for those that begin with "No,". */
const booker: NonNullable<WholeBotOptions['script']> = (body) => {
  const last = lastOf(body);
  if (isRun(body)) {
    const day = /They answered: ([A-Z][a-z]+)/.exec(last)?.[1];
    if (day !== undefined) return `Booked for ${day}.`;
    return /tool_result/.test(last)
      ? `Not booked: ${last}`
      : call('toolu_ask', 'ask_person', { question: 'Which day?' });
  }
  if (/needs_input/.test(last)) return 'Which day shall it be?';
  if (/ARGUMENTS_INVALID/.test(last)) return 'Nothing waits for that.';
  const booked = /Booked for ([A-Z][a-z]+)/.exec(last)?.[1];
  if (booked !== undefined) return `It is booked for ${booked}.`;
  if (/tool_result/.test(last)) return `It failed: ${last}`;
  const run = resumable(last);
  if (run === undefined)
    return /book/i.test(last)
      ? call('toolu_use', 'use_skill', { skill: 'book', message: 'Book it.' })
      : 'Just talking.';
  if (/No, /.test(last)) return 'As you like.';
  const said = /(?:mon|tues|wednes)day/i.exec(last)?.[0] ?? '';
  return call(`toolu_go_${said}`, 'use_skill', { skill: 'book', message: said, resume: run });
};

test('U14 a run asks, the person answers, and the same run goes on with its history and its count of steps', async (t) => {
  const { telegram, messages } = await startWholeBot(t, { toml, skills, script: booker });
  const ann = telegram.person({ name: 'Ann' });
  ann.says('book the room');
  await ann.dm.nextMessage('Which day shall it be?');
  const asked = messages.requests.at(-1)!.body;
  assert.match(lastOf(asked), /status needs_input/);
  assert.match(lastOf(asked), /<output>\\nWhich day\?\\n<\/output>/);
  ann.says('On Tuesday, please');
  await ann.dm.nextMessage('It is booked for Tuesday.');
  const told = messages.requests.find(({ body }) => !isRun(body) && /On Tuesday/.test(lastOf(body)))!.body;
  assert.match(lastOf(told), /<quote from=\\"skill book\\">\\nWhich day\?\\n<\/quote>/);
  const runs = messages.requests.filter(({ body }) => isRun(body)).map(({ body }) => body);
  assert.equal(runs.length, 2);
  assert.match(JSON.stringify(runs[1]!.messages), /toolu_ask.*They answered: Tuesday/);
  const result = messages.requests.find(({ body }) => !isRun(body) && /Booked for/.test(lastOf(body)))!.body;
  assert.match(lastOf(result), /2 iterations/);
});

test('U14 Q7 the question survives a restart', async (t) => {
  const set = await startWholeBot(t, { toml, skills, script: booker });
  const ann = set.telegram.person({ name: 'Ann' });
  ann.says('book the room');
  await ann.dm.nextMessage('Which day shall it be?');
  await set.restart();
  ann.says('Monday');
  await ann.dm.nextMessage('It is booked for Monday.');
});

test('U14 what is about something else leaves the question open; answered once, it is over', async (t) => {
  const { telegram, messages } = await startWholeBot(t, { toml, skills, script: booker });
  const ann = telegram.person({ name: 'Ann' });
  await talk(ann, [
    ['book the room', 'Which day shall it be?'],
    ['/whoami', /telegram:/],
    ['No, tell me a joke first', 'As you like.'],
    ['Wednesday now', 'It is booked for Wednesday.'],
    ['Monday was better', 'Just talking.'],
  ]);
  assert.doesNotMatch(lastOf(messages.requests.at(-1)!.body), /asked this person/);
});

test('U14 in a group only who the run works for can answer, whatever the model tries', async (t) => {
  let forged = '';
  const { telegram, messages } = await startWholeBot(t, {
    toml,
    skills,
    script(body, ...more) {
      if (/Bob here/.test(lastOf(body)))
        return call('toolu_forged', 'use_skill', { skill: 'book', message: 'Friday', resume: forged });
      forged = resumable(lastOf(body)) ?? forged;
      return typeof booker === 'function' ? booker(body, ...more) : '';
    },
  });
  const ann = telegram.person({ name: 'Ann' });
  const bob = telegram.person({ name: 'Bob' });
  const room = telegram.group({ title: 'Team' });
  ann.says('@test_bot book the room', { in: room });
  await room.nextMessage('Which day shall it be?');
  bob.says('@test_bot Bob here, Monday', { in: room });
  await room.nextMessage('Nothing waits for that.');
  const bobs = messages.requests.find(({ body }) => /Bob here/.test(lastOf(body)))!.body;
  assert.doesNotMatch(lastOf(bobs), /asked this person/);
  ann.says('@test_bot Tuesday', { in: room });
  await room.nextMessage('It is booked for Tuesday.');
});

test('U14 no model answers for the person in the turn that is to ask them', async (t) => {
  const { telegram, messages } = await startWholeBot(t, {
    toml,
    skills,
    script(body, ...more) {
      const last = lastOf(body);
      if (!isRun(body) && /needs_input/.test(last))
        return call('toolu_self', 'use_skill', {
          skill: 'book',
          message: 'Friday',
          resume: resumable(last),
        });
      return typeof booker === 'function' ? booker(body, ...more) : '';
    },
  });
  const ann = telegram.person({ name: 'Ann' });
  ann.says('book the room');
  await ann.dm.nextMessage('Nothing waits for that.');
  assert.equal(messages.requests.filter(({ body }) => isRun(body)).length, 1);
  ann.says('Monday');
  await ann.dm.nextMessage('It is booked for Monday.');
});

test('U14 Q4 /stop ends what is asked', async (t) => {
  const { telegram } = await startWholeBot(t, { toml, skills, script: booker });
  const ann = telegram.person({ name: 'Ann' });
  await talk(ann, [
    ['book the room', 'Which day shall it be?'],
    ['/stop', /Nothing is running/],
    ['Monday', 'Just talking.'],
  ]);
});

test('U14 U9 a run in the background asks when it has to, and goes on when it is answered', async (t) => {
  const { telegram } = await startWholeBot(t, {
    toml,
    skills: { book: skills.book.replace('max-iterations: 3', 'background: true') },
    script(body, ...more) {
      if (!isRun(body) && /status.{0,5}running/.test(lastOf(body))) return 'It runs.';
      return typeof booker === 'function' ? booker(body, ...more) : '';
    },
  });
  const ann = telegram.person({ name: 'Ann' });
  await talk(ann, [
    ['book the room', 'Which day shall it be?'],
    ['Tuesday', 'It is booked for Tuesday.'],
  ]);
});

test('U14 on Slack a question of a thread is answered in it', async (t) => {
  const { slack } = await startWholeBot(t, { toml, skills, script: booker, channels: ['slack'] });
  const anna = slack.workspace.addUser('anna');
  const room = slack.workspace.addRoom('channel', { members: [anna.id] });
  const asked = slack.people.mention(anna, room, 'book the room');
  await slack.posted(({ text, threadTs }) => threadTs === asked.ts && /Which day/.test(text));
  slack.people.mention(anna, room, 'Monday elsewhere');
  await slack.posted(({ text }) => /Just talking/.test(text));
  slack.people.post(anna, room, 'Tuesday', { thread: asked.ts });
  await slack.posted(({ text, threadTs }) => threadTs === asked.ts && /booked for Tuesday/.test(text));
});

test('U14 T5 AskUserQuestion in a list is ask_person, also with questions and options as Claude Code gives them', async (t) => {
  const { telegram, messages } = await startWholeBot(t, {
    toml,
    skills: { book: skills.book.replace('max-iterations: 3', 'allowed-tools: AskUserQuestion') },
    script(body, ...more) {
      if (!isRun(body) || /tool_result/.test(lastOf(body)))
        return typeof booker === 'function' ? booker(body, ...more) : '';
      return call('toolu_ask', 'ask_person', {
        questions: [
          {
            question: 'Which day?',
            header: 'Day',
            multiSelect: false,
            options: [{ label: 'Tuesday', description: 'it is free' }, { label: 'Wednesday' }],
          },
          { question: 'For how many?', header: 'People', multiSelect: false, options: [] },
        ],
      });
    },
  });
  const ann = telegram.person({ name: 'Ann' });
  ann.says('book the room');
  await ann.dm.nextMessage('Which day shall it be?');
  assert.match(
    lastOf(messages.requests.at(-1)!.body),
    /<output>\\nWhich day\?\\n- Tuesday: it is free\\n- Wednesday\\nFor how many\?\\n<\/output>/,
  );
  const run = messages.requests.find(({ body }) => isRun(body))!.body;
  assert.deepEqual(run.tools?.map(({ name }) => name).toSorted(), ['ask_person', 'skills_read_file']);
  ann.says('Tuesday, four of us');
  await ann.dm.nextMessage('It is booked for Tuesday.');
});
