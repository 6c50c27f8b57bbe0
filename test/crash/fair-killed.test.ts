import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openCrashStage } from '../support/crash/crash-stage.ts';
import { openStoreFor, storeNames } from '../support/crash/stores.ts';
import { noPostgres } from '../support/postgres.ts';

for (const store of storeNames)
  test(`Q3 Q7 on the ${store} store, killed while one person's burst waits, nothing is lost or out of order, and others still start early`, async (t) => {
    const opened = await openStoreFor(store);
    if (opened === undefined) return t.skip(noPostgres);
    t.after(opened.close);
    const held = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const asked: string[] = [];
    const stage = await openCrashStage({
      ...opened.options,
      channels: ['slack'],
      toml: '[agent]\nconcurrency = 2\n',
      script: ({ messages }) => {
        const words =
          JSON.stringify(messages)
            .match(/(?:ann|bob|cid)\d+/g)
            ?.at(-1) ?? 'nobody';
        asked.push(words);
        if (asked.length === 2) begun.resolve();
        return { content: [{ type: 'text', text: `answer ${words}` }], wire: { hold: held.promise } };
      },
    });
    t.after(() => stage.close());
    const { people, workspace, posted } = stage.slack;
    const [ann, bob, cid] = ['ann', 'bob', 'cid'].map((name) => workspace.addUser(name));
    assert.ok(ann && bob && cid);
    // A room for each conversation: Slack takes a message a second in one.
    const rooms = Array.from({ length: 12 }, () =>
      workspace.addRoom('channel', { members: [ann.id, cid.id] }),
    );
    const first = stage.start();
    assert.ok(await first.ready);
    const roots = rooms.map((room, n) => people.mention(ann, room, `ann${n}`));
    for (const { delivered } of roots) await delivered;
    const last = { room: rooms.at(-1), root: roots.at(-1) };
    assert.ok(last.room && last.root);
    await people.mention(cid, last.room, 'cid1', { thread: last.root.ts }).delivered;
    await people.mention(ann, last.room, 'ann99', { thread: last.root.ts }).delivered;
    await begun.promise;
    await first.kill();
    asked.splice(0);
    const second = stage.start();
    assert.ok(await second.ready);
    await people.dm(bob, 'bob1').delivered;
    held.resolve();
    const keys = [...rooms.map((_, n) => `ann${n}`), 'cid1', 'ann99', 'bob1'];
    for (const key of keys) await posted(({ text }) => text === `answer ${key}`);
    assert.ok(asked.indexOf('bob1') < 8, asked.join(' '));
    const there = asked.filter((key) => ['ann11', 'cid1', 'ann99'].includes(key));
    assert.deepEqual(there, ['ann11', 'cid1', 'ann99'], 'a conversation lost its order');
    assert.equal((await second.stop()).code, 0);
    const sent = [...workspace.rooms.values()].flatMap(({ messages }) =>
      messages
        .filter(({ text, deleted }) => !deleted && text.startsWith('answer '))
        .map(({ text }) => text.slice(7)),
    );
    assert.deepEqual(sent.sort(), keys.sort(), 'each is answered once');
  });
