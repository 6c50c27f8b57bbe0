import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { startSignInServer } from '../servers/mcp/sign-in-server.ts';
import { codeIn, linkIn, startOwnAccounts } from '../support/own-accounts.ts';

type Set = Awaited<ReturnType<typeof startOwnAccounts>>;

/** Ann, who asked for a link, and Bob, who may use the bot as well. */
async function asked(t: TestContext, options: Parameters<typeof startOwnAccounts>[1] = {}) {
  const set = await startOwnAccounts(t, options);
  const ann = set.telegram.person({ name: 'Ann', id: 42 });
  const bob = set.telegram.person({ name: 'Bob', id: 7 });
  ann.says('/connect work');
  const link = linkIn((await ann.dm.nextMessage(/I need you to sign in there/)).text);
  return { ...set, ann, bob, link };
}

async function nobodyIsConnected({ bot, server }: Set): Promise<void> {
  await bot.idle();
  assert.deepEqual(await bot.operate('accounts list'), []);
  assert.deepEqual(server.tokens, [], 'no token was ever used');
}

/** A server in a private network that notes who comes, and describes itself as an authorization server. */
async function honeypot(
  t: TestContext,
  at = '127.0.0.1',
): Promise<Readonly<{ url: string; visits: readonly string[] }>> {
  const visits: string[] = [];
  const http = createServer((request, response) => {
    visits.push(`${request.method} ${request.url}`);
    const about = {
      issuer: url,
      authorization_endpoint: `${url}/auth`,
      token_endpoint: `${url}/token`,
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
    };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(about));
  });
  await new Promise<void>((resolve) => http.listen(0, at, resolve));
  const url = `http://${at}:${(http.address() as AddressInfo).port}`;
  t.after(() => new Promise((resolve) => http.close(resolve)));
  return { url, visits };
}

test('X8 attack: a link that another person opens binds nothing, because the code is not theirs to send', async (t) => {
  const set = await asked(t);
  // Ann sent her link to Bob, who signs in with his account.
  const code = codeIn(await set.finish(set.link, 'bob'));
  await nobodyIsConnected(set);
  set.bob.says(code);
  await set.bob.dm.nextMessage(/sign-in that somebody else started, so I connected nothing/);
  await set.ann.dm.nextMessage(/Somebody else sent me the answer of your sign-in/);
  set.ann.says(code);
  await set.ann.dm.nextMessage(/is not the code of an open sign-in/);
  await nobodyIsConnected(set);
  assert.ok(
    set.signIn.seen.some(({ path }) => path === '/token/revocation'),
    'the tokens are revoked',
  );
});

test('X8 attack: a code that another person pastes ends the sign-in, and is kept nowhere', async (t) => {
  const set = await asked(t, { paste: true });
  const back = await set.signIn.browse(set.link, 'bob');
  set.bob.says(back.href);
  await set.bob.dm.nextMessage(/for another sign-in, not the one I sent you/);
  set.ann.says(back.href);
  await set.ann.dm.nextMessage(/no longer open/);
  await nobodyIsConnected(set);
  assert.ok(!set.signIn.seen.some(({ path }) => path === '/token'), 'the code is not exchanged');
  assert.ok(!JSON.stringify(set.messages.requests).includes(back.searchParams.get('code') ?? '?'));
});

test('X8 attack: an answer of another issuer is refused, and the code is sent to nobody', async (t) => {
  const set = await asked(t);
  const back = await set.signIn.browse(set.link, 'ann');
  back.searchParams.set('iss', 'https://evil.example');
  assert.match(await (await fetch(back)).text(), /nothing was connected/);
  await set.ann.dm.nextMessage(/for another sign-in/);
  assert.ok(!set.signIn.seen.some(({ path }) => path === '/token'));
  await nobodyIsConnected(set);
});

test('X8 attack: an answer without an issuer is refused where the server says that it names itself', async (t) => {
  const set = await asked(t);
  const back = await set.signIn.browse(set.link, 'ann');
  back.searchParams.delete('iss');
  assert.match(await (await fetch(back)).text(), /nothing was connected/);
  await nobodyIsConnected(set);
});

test('X8 attack: a server that names another authorization server than before is refused', async (t) => {
  const other = await startSignInServer(t);
  const set = await startOwnAccounts(t, {
    issuer: false,
    more: '[sandbox]\nmode = "virtual"\nprivate_networks = ["127.0.0.0/8"]\n',
  });
  const ann = set.telegram.person({ name: 'Ann', id: 42 });
  ann.says('/connect work');
  const first = await ann.dm.nextMessage(/I need you to sign in there/);
  assert.ok(linkIn(first.text).startsWith(set.signIn.issuer));
  await set.finish(linkIn(first.text), 'ann', 'refuse');
  await ann.dm.nextMessage(/refused on the page/);
  set.server.about.authorization_servers = [other.issuer];
  ann.says('/connect work');
  await ann.dm.nextMessage(/That does not work: it names the authorization server/);
  assert.ok(!other.seen.some(({ method }) => method === 'POST'));
});

test('X8 attack: metadata that describes another issuer is refused', async (t) => {
  const set = await startOwnAccounts(t);
  const ann = set.telegram.person({ name: 'Ann', id: 42 });
  set.signIn.tamper.before = ({ url = '' }, response) => {
    if (!url.startsWith('/.well-known/')) return false;
    const about = {
      issuer: 'https://evil.example',
      authorization_endpoint: `${set.signIn.issuer}/auth`,
      token_endpoint: 'https://evil.example/token',
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
    };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(about));
    return true;
  };
  ann.says('/connect work');
  await ann.dm.nextMessage(/describes itself as https:\/\/evil\.example, which is another issuer/);
});

test('X8 attack: a replayed answer shows no code again, and a replayed code connects nothing again', async (t) => {
  const set = await asked(t);
  const back = await set.signIn.browse(set.link, 'ann');
  const code = codeIn(await (await fetch(back)).text());
  const again = await (await fetch(back)).text();
  assert.ok(!again.includes(code) && !/class="code"/.test(again));
  assert.match(again, /no longer open/);
  set.ann.says(code);
  await set.ann.dm.nextMessage(/Connected\./);
  const exchanges = () => set.signIn.seen.filter(({ path }) => path === '/token').length;
  assert.equal(exchanges(), 1);
  assert.match(await (await fetch(back)).text(), /no longer open/);
  assert.equal(exchanges(), 1);
  set.ann.says('/disconnect work');
  await set.ann.dm.nextMessage(/Disconnected/);
  set.ann.says(code);
  await set.ann.dm.nextMessage(/is not the code of an open sign-in/);
  assert.deepEqual(await set.bot.operate('accounts list'), []);
});

test('X8 attack: a state that was guessed, cut or sent twice is nobody’s', async (t) => {
  const set = await asked(t);
  const state = new URL(set.link).searchParams.get('state') ?? '';
  const [id = ''] = state.split('.');
  for (const other of [`${id}.`, id, `${id}.${'A'.repeat(43)}`, `${state}x`, '']) {
    const query = new URLSearchParams({ code: 'c0de', state: other, iss: set.signIn.issuer });
    const page = await fetch(`${set.publicUrl}/accounts/callback?${query.toString()}`);
    assert.equal(page.status, 400, other);
  }
  const twice = `code=c0de&state=${state}&state=${state}&iss=${set.signIn.issuer}`;
  assert.equal((await fetch(`${set.publicUrl}/accounts/callback?${twice}`)).status, 400);
  // The sign-in itself is untouched.
  set.ann.says(codeIn(await set.finish(set.link, 'ann')));
  await set.ann.dm.nextMessage(/Connected\./);
});

test('X8 attack: session fixation: an answer that was made for the attacker’s sign-in does not count in the victim’s', async (t) => {
  const set = await asked(t);
  set.bob.says('/connect work');
  const bobs = linkIn((await set.bob.dm.nextMessage(/I need you to sign in there/)).text);
  // Bob takes the code of his account, and makes Ann open an address with it and her state.
  const back = await set.signIn.browse(bobs, 'bob');
  back.searchParams.set('state', new URL(set.link).searchParams.get('state') ?? '');
  assert.match(await (await fetch(back)).text(), /nothing was connected/);
  await set.ann.dm.nextMessage(/no longer open/);
  await nobodyIsConnected(set);
});

test('X8 attack: guesses of a code end the sign-in', async (t) => {
  const set = await asked(t);
  const code = codeIn(await set.finish(set.link, 'ann'));
  for (let n = 0; n < 5; n += 1) {
    set.ann.says(code === 'AAAA-222A' ? 'BBBB-2222' : 'AAAA-222A');
    await set.ann.dm.nextMessage(/is not the code of an open sign-in/);
  }
  set.ann.says(code);
  await set.ann.dm.nextMessage(/is not the code of an open sign-in/);
  await nobodyIsConnected(set);
});

for (const what of ['a code', 'a pasted address'])
  test(`X8 attack: ${what} in a group is deleted and not used, and the person can still send it in private`, async (t) => {
    const isPasted = what === 'a pasted address';
    const set = await asked(t, isPasted ? { paste: true } : {});
    const room = set.telegram.group({ title: 'Team' });
    room.setBot('administrator');
    const back = await set.signIn.browse(set.link, 'ann');
    const secret = isPasted ? back.href : codeIn(await (await fetch(back)).text());
    set.ann.says(secret, { in: room });
    await room.nextMessage(/Others can read it here, so I didn’t use it/);
    assert.equal(set.telegram.calls('deleteMessage').length, 1);
    assert.ok(!room.everSent().some(({ text }) => text.includes(secret)));
    await nobodyIsConnected(set);
    set.ann.says(secret);
    await set.ann.dm.nextMessage(/Connected\./);
  });

test('X8 attack: an answer that says something twice is exchanged nowhere', async (t) => {
  const set = await asked(t);
  let { link } = set;
  for (const [name, value] of [
    ['code', 'other'],
    ['iss', 'https://evil.example'],
  ] as const) {
    const back = await set.signIn.browse(link, 'ann');
    back.searchParams.append(name, value);
    assert.match(await (await fetch(back)).text(), /nothing was connected/);
    await set.ann.dm.nextMessage(/Ask me again|no longer open/);
    set.ann.says('/connect work');
    link = linkIn((await set.ann.dm.nextMessage(/I need you to sign in there/)).text);
  }
  assert.ok(!set.signIn.seen.some(({ path }) => path === '/token'));
  await nobodyIsConnected(set);
});

test('X8 attack: a redirect of the token endpoint to elsewhere is not followed', async (t) => {
  const trap = await honeypot(t);
  const set = await asked(t);
  set.signIn.tamper.before = ({ url = '' }, response) => {
    if (url !== '/token') return false;
    response.writeHead(307, { location: `${trap.url}/token` }).end();
    return true;
  };
  await set.finish(set.link, 'ann');
  assert.deepEqual(trap.visits, []);
  await nobodyIsConnected(set);
});

test('X8 attack: the page redirects nowhere and shows nothing that came with the address', async (t) => {
  const set = await asked(t);
  const more = 'next=https://evil.example&redirect_uri=https://evil.example&state=<script>alert(1)</script>';
  const page = await fetch(`${set.publicUrl}/accounts/callback?code=c0de&${more}`, { redirect: 'manual' });
  assert.equal(page.status, 400);
  const text = await page.text();
  assert.ok(!/evil|script/.test(text));
  assert.match(page.headers.get('content-security-policy') ?? '', /default-src 'none'/);
  assert.equal(page.headers.get('referrer-policy'), 'no-referrer');
  assert.equal(page.headers.get('cache-control'), 'no-store');
});

test('X8 attack: a server that says it is another resource gets no sign-in, and no token for that one', async (t) => {
  const set = await startOwnAccounts(t);
  const ann = set.telegram.person({ name: 'Ann', id: 42 });
  set.server.about.resource = 'https://bank.example/mcp';
  ann.says('/connect work');
  await ann.dm.nextMessage(/says that it is https:\/\/bank\.example\/mcp, which is another resource/);
});

test('X8 attack: tokens stay with the address that they were issued for; another address gets none', async (t) => {
  const set = await asked(t);
  set.ann.says(codeIn(await set.finish(set.link, 'ann')));
  await set.ann.dm.nextMessage(/Connected\./);
  await set.bot.idle();
  const seen: (string | undefined)[] = [];
  const other = createServer((request, response) => {
    seen.push(request.headers.authorization);
    response.writeHead(401).end();
  });
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  t.after(() => new Promise((resolve) => other.close(resolve)));
  const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}/mcp`;
  await set.reconfigure(set.toml.replace(set.server.url, url));
  await set.log.line(({ message }) => message.startsWith('the config was changed'));
  set.ann.says('who am I?');
  await set.ann.dm.nextMessage(/It says: error SIGN_IN_NEEDED/);
  assert.ok(seen.length > 0 && seen.every((authorization) => authorization === undefined));
});

test('X8 attack: metadata that points into a private network is not followed', async (t) => {
  for (const point of ['metadataUrl', 'authorization_servers'] as const) {
    await t.test(point, async (inner) => {
      const trap = await honeypot(inner);
      const set = await startOwnAccounts(inner, { issuer: false });
      const ann = set.telegram.person({ name: 'Ann', id: 42 });
      if (point === 'metadataUrl') set.server.about.metadataUrl = `${trap.url}/latest/meta-data`;
      else set.server.about.authorization_servers = [trap.url];
      ann.says('/connect work');
      await ann.dm.nextMessage(/That does not work/);
      await set.bot.idle();
      assert.deepEqual(trap.visits, []);
    });
  }
});

test('X8 attack: endpoints in a private network are not asked, whatever the metadata says', async (t) => {
  const trap = await honeypot(t);
  const set = await startOwnAccounts(t);
  const ann = set.telegram.person({ name: 'Ann', id: 42 });
  set.signIn.tamper.before = ({ url = '' }, response) => {
    if (!url.startsWith('/.well-known/')) return false;
    const about = {
      issuer: set.signIn.issuer,
      authorization_endpoint: `${set.signIn.issuer}/auth`,
      token_endpoint: `${trap.url}/token`,
      registration_endpoint: `${trap.url}/reg`,
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
    };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(about));
    return true;
  };
  ann.says('/connect work');
  await ann.dm.nextMessage(/That does not work/);
  await set.bot.idle();
  assert.deepEqual(trap.visits, []);
});

test('X8 attack: a server without PKCE, or with a plain address, gets no sign-in', async (t) => {
  const set = await startOwnAccounts(t);
  const ann = set.telegram.person({ name: 'Ann', id: 42 });
  const about = {
    issuer: set.signIn.issuer,
    authorization_endpoint: `${set.signIn.issuer}/auth`,
    token_endpoint: `${set.signIn.issuer}/token`,
    response_types_supported: ['code'],
  };
  const say = { now: about as object };
  set.signIn.tamper.before = ({ url = '' }, response) => {
    if (!url.startsWith('/.well-known/')) return false;
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(say.now));
    return true;
  };
  ann.says('/connect work');
  await ann.dm.nextMessage(/does not say that it supports PKCE with S256/);
  say.now = {
    ...about,
    code_challenge_methods_supported: ['S256'],
    token_endpoint: 'http://plain.example/token',
  };
  ann.says('/connect work');
  await ann.dm.nextMessage(/names an address without encryption/);
});

test('X8 attack: an authorization server of the config that takes codes without encryption, elsewhere than on this machine, gets none', async (t) => {
  // The name of this machine is 127.0.0.1; this address stands for another one.
  const far = await honeypot(t, '127.0.0.2');
  const set = await startOwnAccounts(t, { issuer: false, sectionMore: `issuer = "${far.url}"\n` });
  set.server.about.authorization_servers = [far.url];
  const ann = set.telegram.person({ name: 'Ann', id: 42 });
  ann.says('/connect work');
  const { text } = await ann.dm.nextMessage(/takes codes without encryption, at .*Give it TLS/);
  assert.ok(text.includes(`${far.url}/token`));
  assert.ok(far.visits.length > 0 && far.visits.every((visit) => visit.startsWith('GET /.well-known/')));
  await nobodyIsConnected(set);
});
