import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serveTools } from '../servers/mcp/start-http-server.ts';
import { listedTool } from '../servers/mcp/tool-files.ts';
import type { Person } from '../servers/telegram/person.ts';
import { isRun } from '../support/call-steps.ts';
import { openDetails } from '../support/open-details.ts';
import { caller, codeIn, linkIn, startOwnAccounts } from '../support/own-accounts.ts';

test('X8 a person signs in from a direct message: link, page, code, then the tools run as them', async (t) => {
  const { telegram, finish, server, bot, messages } = await startOwnAccounts(t);
  const ann = telegram.person({ name: 'Ann', id: 42 });
  ann.says('who am I?');
  const asked = await ann.dm.nextMessage(/To use work for you, I need you to sign in there/);
  await ann.dm.nextMessage(/It says: error SIGN_IN_NEEDED/);
  const page = await finish(linkIn(asked.text), 'ann');
  assert.match(page, /work<?.*Ann \(telegram:42\)/s);
  assert.equal(server.calls.length, 0, 'nothing is used before the code came back');
  ann.says(codeIn(page));
  await ann.dm.nextMessage(/Connected\. I now use your account at work/);
  await bot.idle();
  ann.says('who am I?');
  await ann.dm.nextMessage('It says: You are ann');
  const bodies = JSON.stringify(messages.requests);
  for (const token of server.tokens) assert.ok(!bodies.includes(token));
  assert.ok(!bodies.includes(codeIn(page)), 'the code is kept out of the conversation');
  assert.ok(!bodies.includes('/auth?'), 'the link is kept out of the conversation');
});

/** Signs a person in from their direct message, to the end. */
async function connect(set: Awaited<ReturnType<typeof startOwnAccounts>>, person: Person, user: string) {
  person.says('/connect work');
  const asked = await person.dm.nextMessage(/I need you to sign in there/);
  person.says(codeIn(await set.finish(linkIn(asked.text), user)));
  await person.dm.nextMessage(/Connected\./);
  await set.bot.idle();
}

/** The server takes no token of today any more, and the authorization server gives no new one for it. */
function refuseRenewal({ server, signIn }: Awaited<ReturnType<typeof startOwnAccounts>>): void {
  for (const token of server.tokens) server.refused.add(token);
  signIn.tamper.before = ({ url = '', method }, response) => {
    if (url !== '/token' || method !== 'POST') return false;
    response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":"invalid_grant"}');
    return true;
  };
}

test('X8 without a public address the person pastes the address of the last page, which stays out of everything', async (t) => {
  const { telegram, signIn, messages, log, bot } = await startOwnAccounts(t, { paste: true });
  const ann = telegram.person({ name: 'Ann', id: 42 });
  ann.says('who am I?');
  const asked = await ann.dm.nextMessage(/send me the full address of the page/);
  await ann.dm.nextMessage(/It says: error SIGN_IN_NEEDED/);
  const back = await signIn.browse(linkIn(asked.text), 'ann');
  const code = back.searchParams.get('code') ?? '';
  ann.says(code);
  await ann.dm.nextMessage(/Please send the full address of that page/);
  ann.says(`here it is: ${back.href}`);
  await ann.dm.nextMessage(/Connected\./);
  await bot.idle();
  ann.says('who am I?');
  await ann.dm.nextMessage('It says: You are ann');
  const kept = `${JSON.stringify(messages.requests)}${JSON.stringify(log.lines)}`;
  assert.ok(code !== '' && !kept.includes(code));
});

test('X8 U16 in a group only the person gets the link, and the call runs as the one who asks', async (t) => {
  const set = await startOwnAccounts(t, { sectionMore: 'chat_types = ["private", "group"]\n' });
  const { telegram, server, finish } = set;
  const [ann, bob] = [telegram.person({ name: 'Ann', id: 42 }), telegram.person({ name: 'Bob', id: 7 })];
  const room = telegram.group({ title: 'Team' });
  for (const [person, user] of [
    [ann, 'ann'],
    [bob, 'bob'],
  ] as const) {
    person.says('hello');
    await person.dm.nextMessage(/./);
    person.says('@test_bot who am I?', { in: room });
    const asked = await person.dm.nextMessage(/I need you to sign in there/);
    await room.nextMessage('I answered you in a direct message.');
    person.says(codeIn(await finish(linkIn(asked.text), user)));
    await person.dm.nextMessage(/Connected\./);
  }
  assert.ok(
    room.sent().every(({ text }) => !text.includes('/auth?')),
    'nobody else sees a link',
  );
  await set.bot.idle();
  ann.says('@test_bot who am I?', { in: room });
  bob.says('@test_bot who am I?', { in: room });
  await room.nextMessage(/You are ann/);
  // What came from Ann's account is in the conversation, so it does not go to Bob's unasked (S7).
  const question = await openDetails(bob, await room.nextMessage(/^For Bob:\s+I need a yes to use/), room);
  assert.match(question.text, /It uses the account of Bob \(telegram:7\) at work/);
  bob.pressesAlone(question.id, 'Approve', room);
  await room.nextMessage(/You are bob/);
  const sessions = new Map(server.calls.map(({ user, session }) => [user, session]));
  assert.equal(new Set(sessions.values()).size, 2, 'a connection for each');
});

test('X8 a token that has ended is renewed silently, and the old refresh token is used once by all processes', async (t) => {
  const set = await startOwnAccounts(t);
  const ann = set.telegram.person({ name: 'Ann', id: 42 });
  set.signIn.tokens.seconds = 5;
  await connect(set, ann, 'ann');
  ann.says('who am I?');
  await ann.dm.nextMessage('It says: You are ann');
  const renewals = set.signIn.seen.filter(({ body }) => body.includes('grant_type=refresh_token'));
  assert.ok(renewals.length > 0);
  const used = renewals.map(({ body }) => new URLSearchParams(body).get('refresh_token'));
  assert.equal(new Set(used).size, used.length, 'no refresh token is used twice');
  assert.ok(renewals.every(({ body }) => new URLSearchParams(body).get('resource') === set.server.url));
});

test('X8 where the renewal is refused the person is asked again, once', async (t) => {
  const set = await startOwnAccounts(t);
  const ann = set.telegram.person({ name: 'Ann', id: 42 });
  await connect(set, ann, 'ann');
  refuseRenewal(set);
  ann.says('who am I?');
  await ann.dm.nextMessage(/I need you to sign in there/);
  await ann.dm.nextMessage(/It says: error SIGN_IN_NEEDED/);
  ann.says('who am I?');
  await ann.dm.nextMessage(/It says: error SIGN_IN_NEEDED/);
  assert.equal(
    ann.dm.sent().filter(({ text }) => text.includes('/auth?')).length,
    2,
    'once at first, once again',
  );
  ann.says('/accounts');
  await ann.dm.nextMessage(/work: it needs a new sign-in/);
  delete set.signIn.tamper.before;
  await connect(set, ann, 'ann');
  ann.says('who am I?');
  await ann.dm.nextMessage('It says: You are ann');
});

test('X8 a server that is away for a moment costs nobody their account', async (t) => {
  const set = await startOwnAccounts(t);
  const ann = set.telegram.person({ name: 'Ann', id: 42 });
  set.signIn.tokens.seconds = 5;
  await connect(set, ann, 'ann');
  set.signIn.tamper.before = (_, response) => Boolean(response.writeHead(503).end('later'));
  ann.says('who am I?');
  await ann.dm.nextMessage(/It says: error TOOL_FAILED/);
  delete set.signIn.tamper.before;
  ann.says('who am I?');
  await ann.dm.nextMessage('It says: You are ann');
});

test('X8 a call that needs more permissions asks for them, and a yes is asked with whose account it is', async (t) => {
  const set = await startOwnAccounts(t);
  const ann = set.telegram.person({ name: 'Ann', id: 42 });
  await connect(set, ann, 'ann');
  ann.says('please call admin');
  const question = await ann.dm.nextMessage(/I want to use.*mcp_work_admin.*It uses your account at work/s);
  ann.presses(question.id, 'Approve');
  const asked = await ann.dm.nextMessage(/I need you to sign in there/);
  const wanted = new URL(linkIn(asked.text)).searchParams.get('scope')?.split(' ') ?? [];
  assert.deepEqual(wanted.filter((one) => ['tools', 'admin'].includes(one)).sort(), ['admin', 'tools']);
  await ann.dm.nextMessage(/It says: error SIGN_IN_NEEDED/);
  ann.says(codeIn(await set.finish(linkIn(asked.text), 'ann')));
  await ann.dm.nextMessage(/Connected\./);
  await set.bot.idle();
  ann.says('please call admin');
  ann.presses((await ann.dm.nextMessage(/I want to use.*mcp_work_admin/s)).id, 'Approve');
  await ann.dm.nextMessage('It says: You are ann');
});

test('X8 S7 what an account gave leaves for another server only after a yes, and goes back to its own unasked', async (t) => {
  const tools = [listedTool('weather', { annotations: { readOnlyHint: true } })];
  const other = await serveTools(t, { tools });
  const names: Readonly<Record<string, string>> = { me: 'mcp_work_whoami', weather: 'mcp_other_weather' };
  const set = await startOwnAccounts(t, {
    more: `[mcp.other]\n${other.toml}trusted = true\n`,
    script({ messages }) {
      const last = JSON.stringify(messages.at(-1));
      if (last.includes('tool_result')) return `It says: ${last.replaceAll('\\', '')}`;
      const name = names[/call (\w+)/.exec(last)?.[1] ?? ''];
      if (name === undefined) return 'Hello.';
      return { content: [{ type: 'tool_use', id: `toolu_${messages.length}`, name, input: {} }] };
    },
  });
  await set.log.line(({ message }) => message === 'an MCP server is connected');
  const ann = set.telegram.person({ name: 'Ann', id: 42 });
  await connect(set, ann, 'ann');
  ann.says('call weather');
  await ann.dm.nextMessage(/It says/);
  for (const _ of ['once', 'again']) {
    ann.says('call me');
    await ann.dm.nextMessage(/It says.*You are ann/s);
  }
  ann.says('call weather');
  const asked = await ann.dm.nextMessage(/I want to use.*mcp_other_weather/s);
  assert.match(asked.text, /holds what a sensitive skill or a linked account gave/);
  ann.presses(asked.id, 'Deny');
  await ann.dm.nextMessage(/It says.*TOOL_POLICY_DENIED/s);
});

test('X8 /disconnect ends an account here and at the server; so does forget; owners see accounts without secrets', async (t) => {
  const set = await startOwnAccounts(t);
  const ann = set.telegram.person({ name: 'Ann', id: 42 });
  const revoked = () => set.signIn.seen.filter(({ path }) => path.startsWith('/token/revocation')).length;
  await connect(set, ann, 'ann');
  const listed = await set.bot.operate('accounts list');
  assert.deepEqual(
    listed.map(({ person, server, state }) => [person, server, state]),
    [['telegram:42', 'work', 'usable']],
  );
  for (const token of set.server.tokens) assert.ok(!JSON.stringify(listed).includes(token));
  ann.says('/disconnect work');
  await ann.dm.nextMessage(/Disconnected\. I no longer use your account at work/);
  assert.equal(revoked(), 1);
  assert.deepEqual(await set.bot.operate('accounts list'), []);
  ann.says('who am I?');
  await ann.dm.nextMessage(/I need you to sign in there/);
  await ann.dm.nextMessage(/It says: error SIGN_IN_NEEDED/);
  await connect(set, ann, 'ann');
  const forgotten = await set.bot.operate('forget', 'telegram:42');
  assert.equal(forgotten.removed['serverAccounts'], 1);
  assert.equal(revoked(), 2);
  assert.deepEqual(await set.bot.operate('accounts list'), []);
});

test('X8 who may not use the server any more loses the account: it is not used from then on, and ends here and at the server', async (t) => {
  const set = await startOwnAccounts(t);
  const revoked = () => set.signIn.seen.filter(({ path }) => path.startsWith('/token/revocation')).length;
  const ann = set.telegram.person({ name: 'Ann', id: 42 });
  await connect(set, ann, 'ann');
  const bob = set.telegram.person({ name: 'Bob', id: 7 });
  await connect(set, bob, 'bob');
  bob.says('who am I?');
  await bob.dm.nextMessage('It says: You are bob');
  const calls = set.server.calls.length;
  // He may still use the bot, but not this server.
  await set.reconfigure(
    set.toml.replace(
      'trusted = true\nusers = ["telegram:42", "telegram:7"]',
      'trusted = true\nusers = ["telegram:42"]',
    ),
  );
  await set.log.line(({ message }) => message.startsWith('the config was changed'));
  bob.says('who am I?');
  await set.bot.idle();
  assert.equal(set.server.calls.length, calls);
  await set.log.line(({ message }) => message === 'ended the account of somebody who lost access');
  assert.equal(revoked(), 1);
  const left = await set.bot.operate('accounts list');
  assert.deepEqual(
    left.map(({ person }) => person),
    ['telegram:42'],
  );
});

test('X8 who is unpaired loses the account, when the bot next looks', async (t) => {
  const people = '[access]\ndm = "pairing"\n[bot]\nowner = ["telegram:42"]\nshutdown_seconds = 1\n';
  const set = await startOwnAccounts(t, { people });
  const bob = set.telegram.person({ name: 'Bob', id: 7 });
  bob.says('hello');
  const { text } = await bob.dm.nextMessage(/code is/);
  await set.bot.operate('pair approve', /code is ([A-Z2-9]{8})/.exec(text)?.[1] ?? '');
  await bob.dm.nextMessage(/./);
  await connect(set, bob, 'bob');
  await set.bot.operate('pair revoke', 'telegram:7');
  const { bot, log } = await set.restart();
  await log.line(({ message }) => message === 'ended the account of somebody who lost access');
  assert.deepEqual(await bot.operate('accounts list'), []);
});

test('X8 a person who refuses on the page hears that nothing is connected', async (t) => {
  const set = await startOwnAccounts(t);
  const ann = set.telegram.person({ name: 'Ann', id: 42 });
  ann.says('/connect work');
  const asked = await ann.dm.nextMessage(/I need you to sign in there/);
  assert.match(await set.finish(linkIn(asked.text), 'ann', 'refuse'), /nothing was connected/);
  await ann.dm.nextMessage(/refused on the page/);
  assert.deepEqual(await set.bot.operate('accounts list'), []);
});

test('X8 X7 what another account sees changed is off for it, and told to owners; what was agreed stays for others', async (t) => {
  const set = await startOwnAccounts(t, { trusted: false });
  const ann = set.telegram.person({ name: 'Ann', id: 42 });
  await connect(set, ann, 'ann');
  set.server.tools.more = [listedTool('late')];
  const bob = set.telegram.person({ name: 'Bob', id: 7 });
  await connect(set, bob, 'bob');
  await ann.dm.nextMessage(/changed its tools.*mcp_work_late is new/s);
  const [work] = await set.bot.operate('mcp list');
  assert.deepEqual(
    work?.tools.filter(({ agreed }) => agreed !== undefined).map(({ name }) => name),
    ['admin', 'whoami'],
  );
  ann.says('who am I?');
  ann.presses((await ann.dm.nextMessage(/I want to use.*mcp_work_whoami/s)).id, 'Approve');
  await ann.dm.nextMessage('It says: You are ann');
});

test('X8 one account for all: only an owner connects it, and everybody who may use it does', async (t) => {
  const set = await startOwnAccounts(t, { auth: 'shared' });
  const [ann, bob] = [
    set.telegram.person({ name: 'Ann', id: 42 }),
    set.telegram.person({ name: 'Bob', id: 7 }),
  ];
  bob.says('/connect work');
  await bob.dm.nextMessage('Only an owner can connect work.');
  ann.says('/connect work');
  const asked = await ann.dm.nextMessage(/for everybody who may use it/);
  ann.says(codeIn(await set.finish(linkIn(asked.text), 'robot')));
  await ann.dm.nextMessage(/Connected\./);
  await set.bot.idle();
  bob.says('who am I?');
  await bob.dm.nextMessage('It says: You are robot');
});

test('X8 U16 on Slack: the link of a call in a channel comes as a direct message, and the code there connects', async (t) => {
  const users = 'users = ["slack:*"]\n';
  const set = await startOwnAccounts(t, {
    channels: ['slack'],
    people: `[access]\n${users}groups_mode = "open"\n`,
    users: '["slack:U00000004"]',
    sectionMore: 'chat_types = ["private", "channel"]\n',
  });
  const { slack, bot, server } = set;
  const anna = slack.workspace.addUser('anna');
  const room = slack.workspace.addRoom('channel', { members: [anna.id] });
  const dm = slack.workspace.dmWith(anna.id);
  slack.people.mention(anna, room, 'who am I?');
  const asked = await slack.posted(({ channel, text }) => channel === dm.id && text.includes('/auth?'));
  await slack.posted(
    ({ channel, text }) => channel === room.id && /answered you in a direct message/.test(text),
  );
  slack.people.dm(anna, codeIn(await set.finish(linkIn(asked.text), 'anna')));
  await slack.posted(({ channel, text }) => channel === dm.id && text.startsWith('Connected.'));
  await bot.idle();
  assert.ok(slack.transcript(room).every((said) => !JSON.stringify(said).includes('/auth?')));
  slack.people.mention(anna, room, 'who am I?');
  await slack.posted(({ channel, text }) => channel === room.id && text.includes('You are anna'));
  assert.deepEqual([...new Set(server.calls.map(({ user }) => user))], ['anna']);
});

test('X8 N1 a routine whose account ended asks its creator for a sign-in once, however often it fires', async (t) => {
  const add = { when: 'every year on january 1 at 9:00', task: 'who am I?', name: 'Me' };
  const script: typeof caller = (body, index) => {
    const last = JSON.stringify(body.messages.at(-1));
    if (last.includes('Set it up'))
      return { content: [{ type: 'tool_use', id: 'toolu_add', name: 'routine_add', input: add }] };
    return last.includes('toolu_add') ? 'Set up.' : caller(body, index);
  };
  const set = await startOwnAccounts(t, { script });
  const ann = set.telegram.person({ name: 'Ann', id: 42 });
  await connect(set, ann, 'ann');
  ann.says('Set it up');
  await ann.dm.nextMessage(/Set up\./);
  ann.says('/routines');
  const list = await ann.dm.nextMessage(/Me/);
  ann.presses(list.id, 'Run now');
  await ann.dm.nextMessage(/It says: You are ann/);
  refuseRenewal(set);
  const links = () => ann.dm.sent().filter(({ text }) => text.includes('/auth?')).length;
  const before = links();
  for (let fired = 0; fired < 2; fired++) {
    ann.presses(list.id, 'Run now');
    await ann.dm.nextMessage(/It says: error SIGN_IN_NEEDED/);
    await set.bot.idle();
    // The link that she got is over with this.
    ann.says('/stop');
    await ann.dm.nextMessage(/./);
  }
  assert.equal(links(), before + 1);
});

test('X8 U9 a run in the background whose account ended asks for a sign-in once, says so, and works afterwards', async (t) => {
  const look = {
    content: [
      {
        type: 'tool_use' as const,
        id: 'toolu_look',
        name: 'use_skill',
        input: { skill: 'look', message: 'who am I?' },
      },
    ],
  };
  const set = await startOwnAccounts(t, {
    skills: {
      look: '---\nname: look\ndescription: Looks.\nbackground: true\ntools: ["mcp_work_*"]\n---\nLook who asks.\n',
    },
    script: (body, index) => {
      if (isRun(body)) return caller(body, index);
      const last = JSON.stringify(body.messages.at(-1));
      const found = /It says: [\w ]+/.exec(last)?.[0];
      if (found !== undefined) return `The run: ${found}`;
      return last.includes('Look it up') && !last.includes('tool_result') ? look : 'It runs.';
    },
  });
  const ann = set.telegram.person({ name: 'Ann', id: 42 });
  await connect(set, ann, 'ann');
  ann.says('Look it up');
  await ann.dm.nextMessage(/The run: It says: You are ann/);
  refuseRenewal(set);
  const links = () => ann.dm.sent().filter(({ text }) => text.includes('/auth?')).length;
  const before = links();
  for (let n = 0; n < 2; n++) {
    ann.says('Look it up');
    await ann.dm.nextMessage(/The run: It says: error SIGN_IN_NEEDED/);
    await set.bot.idle();
  }
  assert.equal(links(), before + 1);
  delete set.signIn.tamper.before;
  await connect(set, ann, 'ann');
  ann.says('Look it up');
  await ann.dm.nextMessage(/The run: It says: You are ann/);
});

test('X8 where servers read documents of clients, the bot is named by its own and registers nowhere', async (t) => {
  const publicUrl = 'https://bot.example.org';
  const set = await startOwnAccounts(t, { publicUrl });
  const { issuer } = set.signIn;
  const described = JSON.stringify({
    issuer,
    authorization_endpoint: `${issuer}/auth`,
    token_endpoint: `${issuer}/token`,
    registration_endpoint: `${issuer}/reg`,
    response_types_supported: ['code'],
    code_challenge_methods_supported: ['S256'],
    client_id_metadata_document_supported: true,
  });
  set.signIn.tamper.before = ({ url = '' }, response) => {
    if (!url.startsWith('/.well-known/')) return false;
    response.writeHead(200, { 'content-type': 'application/json' }).end(described);
    return true;
  };
  const ann = set.telegram.person({ name: 'Ann', id: 42 });
  ann.says('/connect work');
  const { text } = await ann.dm.nextMessage(/I need you to sign in there/);
  const asked = new URL(linkIn(text)).searchParams;
  const document = `${publicUrl}/accounts/client.json`;
  assert.equal(asked.get('client_id'), document);
  assert.ok(!set.signIn.seen.some(({ path }) => path.startsWith('/reg')), 'it registered');
  const read = await fetch(`${set.here}/accounts/client.json`);
  const { client_id: id, redirect_uris: back } = (await read.json()) as Record<string, unknown>;
  assert.deepEqual([id, back], [document, [asked.get('redirect_uri')]]);
});
