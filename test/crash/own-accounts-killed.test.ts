import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startProtectedServer } from '../servers/mcp/protected-server.ts';
import { startSignInServer } from '../servers/mcp/sign-in-server.ts';
import type { ServerStep } from '../servers/messages/answer.ts';
import { openCrashStage, type CrashStage } from '../support/crash/crash-stage.ts';
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

/** How a person writes to the bot, and reads what it says to them alone. */
type Talk = Readonly<{ says(text: string): unknown; hears(text: RegExp): Promise<string> }>;

const ways: Readonly<
  Record<string, Readonly<{ channel: 'telegram' | 'slack'; paste?: true; talk(stage: CrashStage): Talk }>>
> = {
  'Telegram with a page': { channel: 'telegram', talk: onTelegram },
  'Telegram with a pasted address': { channel: 'telegram', paste: true, talk: onTelegram },
  'Slack with a page': { channel: 'slack', talk: onSlack },
};

function onTelegram({ telegram }: CrashStage): Talk {
  const ann = telegram.person({ name: 'Ann', id: 42 });
  return { says: (text) => ann.says(text), hears: async (text) => (await ann.dm.nextMessage(text)).text };
}

function onSlack({ slack }: CrashStage): Talk {
  const anna = slack.workspace.addUser('anna');
  const room = slack.workspace.dmWith(anna.id);
  const heard = new Set<string>();
  return {
    says: (text) => slack.people.dm(anna, text),
    async hears(text) {
      const found = await slack.posted(
        (message) => message.channel === room.id && !heard.has(message.ts) && text.test(message.text),
      );
      heard.add(found.ts);
      return found.text;
    },
  };
}

for (const store of storeNames)
  for (const [way, { channel, paste, talk }] of Object.entries(ways))
    for (const [name, kill] of Object.entries(steps))
      test(`X8 on the ${store} store, ${way}, kill -9 when ${name}: the person gets there, with one account`, async (t) => {
        if ((store !== 'embedded' || talk !== onTelegram || paste === true) && !thorough)
          return t.skip('in npm run test:crash');
        const opened = await openStoreFor(store);
        if (opened === undefined) return t.skip(noPostgres);
        t.after(opened.close);
        const signIn = await startSignInServer(t);
        const server = await startProtectedServer(t, signIn.issuer);
        const port = await freePort();
        const listen = `[server]\nlisten = "127.0.0.1:${port}"\npublic_url = "http://127.0.0.1:${port}"\n`;
        const stage = await openCrashStage({
          ...opened.options,
          channels: [channel],
          toml: `${paste === true ? '' : listen}[mcp.work]\nurl = "${server.url}"\nauth = "person"\nissuer = "${signIn.issuer}"\ntrusted = true\nusers = ["telegram:42", "slack:U00000004"]\n`,
          script: (body) => caller(body, 0) as ServerStep,
        });
        t.after(stage.close);
        const first = stage.start({ preload: killingAt(kill) });
        await first.ready;
        const killed = hasKilledItself(first, name).then(() => stage.start());
        const { says, hears } = talk(stage);
        says('/connect work');
        const back = await signIn.browse(linkIn(await hears(/I need you to sign in there/)), 'ann');
        if (paste === true) says(`here: ${back.href}`);
        else {
          // A browser that gets no answer, or is asked to wait, loads the page again.
          let page = '';
          await until(async () => {
            page = await fetch(back).then(
              (answer) => answer.text(),
              () => '',
            );
            return page.includes('class="code"');
          });
          says(codeIn(page));
        }
        await hears(paste === true ? /Connected\./ : /Connected\.|That code was used before/);
        const second = await killed;
        await until(async () => {
          says('who am I?');
          await hears(/It says/);
          return server.calls.some(({ user }) => user === 'ann');
        });
        assert.deepEqual(await second.stop(), { code: 0, signal: null }, second.errors().join('\n'));
        const exchanged = signIn.seen.filter(({ body }) =>
          body.includes('grant_type=authorization_code'),
        ).length;
        assert.equal(exchanged, 1, 'the code is exchanged once');
      });
