import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startProtectedServer } from '../servers/mcp/protected-server.ts';
import { startSignInServer } from '../servers/mcp/sign-in-server.ts';
import type { ServerStep } from '../servers/messages/answer.ts';
import { openCrashStage } from '../support/crash/crash-stage.ts';
import { hasKilledItself, killingAt, type KillAt } from '../support/crash/kill-points.ts';
import { openStoreFor, storeNames } from '../support/crash/stores.ts';
import { thorough } from '../support/crash/thorough.ts';
import { freePort } from '../support/free-port.ts';
import { caller, codeIn, linkIn } from '../support/own-accounts.ts';
import { noPostgres } from '../support/postgres.ts';
import { until } from '../support/until.ts';

const change = 'UPDATE (skillet\\.)?capability_flows SET state = .1, sealed';

/** Steps of a sign-in, each of which a process ends at. */
const steps: Readonly<Record<string, KillAt>> = {
  'the sign-in is stored, and its link is not sent': {
    at: 'INSERT INTO (skillet\\.)?capability_flows',
    when: 'committed',
  },
  'the answer of the page is stored, and its code not exchanged': { at: change, when: 'committed' },
  'the tokens are stored, and their code not shown': { at: change, when: 'committed', nth: 2 },
  'the code has come back, and the account is not stored': {
    at: 'INSERT INTO (skillet\\.)?capability_accounts',
    when: 'before',
  },
  'the account is stored, and nobody told': {
    at: 'INSERT INTO (skillet\\.)?capability_accounts',
    when: 'committed',
  },
};

for (const store of storeNames)
  for (const [name, kill] of Object.entries(steps))
    test(`X8 on the ${store} store kill -9 when ${name}: the person gets there, with one account`, async (t) => {
      if (store !== 'embedded' && !thorough) return t.skip('in npm run test:crash');
      const opened = await openStoreFor(store);
      if (opened === undefined) return t.skip(noPostgres);
      t.after(opened.close);
      const signIn = await startSignInServer(t);
      const server = await startProtectedServer(t, signIn.issuer);
      const port = await freePort();
      const stage = await openCrashStage({
        ...opened.options,
        channels: ['telegram'],
        toml: `[server]\nlisten = "127.0.0.1:${port}"\npublic_url = "http://127.0.0.1:${port}"\n[mcp.work]\nurl = "${server.url}"\nauth = "person"\nissuer = "${signIn.issuer}"\ntrusted = true\nusers = ["telegram:42"]\n`,
        script: (body) => caller(body, 0) as ServerStep,
      });
      t.after(stage.close);
      const first = stage.start({ preload: killingAt(kill) });
      await first.ready;
      const killed = hasKilledItself(first, name).then(() => stage.start());
      const ann = stage.telegram.person({ name: 'Ann', id: 42 });
      ann.says('/connect work');
      const asked = await ann.dm.nextMessage(/I need you to sign in there/);
      const back = await signIn.browse(linkIn(asked.text), 'ann');
      // A browser that gets no answer, or is asked to wait, loads the page again.
      let page = '';
      await until(async () => {
        page = await fetch(back).then(
          (answer) => answer.text(),
          () => '',
        );
        return page.includes('class="code"');
      });
      ann.says(codeIn(page));
      await ann.dm.nextMessage(/Connected\.|That code was used before/);
      const second = await killed;
      await until(async () => {
        ann.says('who am I?');
        await ann.dm.nextMessage(/It says/);
        return server.calls.some(({ user }) => user === 'ann');
      });
      assert.deepEqual(await second.stop(), { code: 0, signal: null }, second.errors().join('\n'));
      const exchanged = signIn.seen.filter(({ body }) =>
        body.includes('grant_type=authorization_code'),
      ).length;
      assert.equal(exchanged, 1, 'the code is exchanged once');
    });
