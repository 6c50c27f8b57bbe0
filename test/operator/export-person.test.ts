import assert from 'node:assert/strict';
import { mkdir, mkdtemp, open, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test, type TestContext } from 'node:test';
import { createPeople } from '../../src/access/create-people.ts';
import { createHolds } from '../../src/access/holds.ts';
import { createAudit } from '../../src/audit/create-audit.ts';
import { parseConfig } from '../../src/config/parse-config.ts';
import { conversationKey } from '../../src/core/conversation.ts';
import { featuresAtRest } from '../../src/features/list.ts';
import { openFolders } from '../../src/folders/open-folders.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { listTar } from '../../src/lib/files/tar.ts';
import { createOperate } from '../../src/operator/operate.ts';
import { archiveParts } from '../../src/operator/archive/archive-parts.ts';
import { personPlaces } from '../../src/operator/person-places.ts';
import { createKeptFiles } from '../../src/runs/kept-files.ts';
import { openStore } from '../../src/store/open-store.ts';
import { chatFolderName } from '../../src/tools/built-in/run-folders.ts';
import { createChatSettings } from '../../src/tools/settings/chat-settings.ts';
import { makeMessage } from '../support/make-message.ts';
import { noPostgres, startPostgres } from '../support/postgres.ts';
import { quietLog } from '../support/quiet-log.ts';

const ada = 'telegram:42';
const bob = 'telegram:421';
const server = await startPostgres();
if (server !== undefined) after(() => server.close());

/** A bot at rest on this store, and what operators can do with it. */
async function stage(t: TestContext, url?: string) {
  const folder = await mkdtemp(path.join(tmpdir(), 'skillet-person-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const text = `[store]\nurl = ${JSON.stringify(url ?? `sqlite:${folder}/skillet.db`)}\n`;
  const parsed = parseConfig(text, { env: {}, home: folder, cwd: folder });
  assert.ok(parsed.ok);
  const { config } = parsed;
  const log = quietLog();
  const store = await openStore(config.store.url, { log });
  t.after(store.close);
  const audit = createAudit({ dataDir: config.bot.dataDir, keyed: store.keyed, clock: systemClock, log });
  const access = () => ({
    ...{ owners: [], general: {}, channels: new Map(), chats: new Map(), allowExternal: false },
  });
  const people = createPeople({ store, audit, clock: systemClock }, { access });
  const chatSettings = createChatSettings({ store, migrations: people.migrations, log });
  const desk = {
    ...{ store, audit, clock: systemClock, log, env: {}, config: () => config, chatSettings, ...people },
    definitionHashes: async () => new Map<string, string>(),
  };
  const folders = await openFolders(config, store, log);
  const files = createKeptFiles(folders);
  const { operate } = createOperate(
    {
      ...desk,
      ...{ access, features: featuresAtRest(desk), files, zone: () => 'UTC' },
      inForce: () => Promise.reject(new Error('not needed')),
    },
    { isAlone: true },
  );
  return { ...desk, config, folder, files, folders, operate };
}

/** The texts of an archive by their names. */
async function readTar(file: string): Promise<ReadonlyMap<string, string>> {
  const handle = await open(file);
  const whole = await readFile(file);
  const members = await listTar(handle);
  await handle.close();
  return new Map(members.map(({ name, at, size }) => [name, whole.subarray(at, at + size).toString('utf8')]));
}

const group = { channel: 'telegram', chat: '-100' } as const;

/** Something of Ada in every place that holds what people say, and something of Bob in each. */
async function fill({
  store,
  audit,
  users,
  pairing,
  chatSettings,
  files,
  folders,
}: Awaited<ReturnType<typeof stage>>) {
  for (const [id, name] of [
    [ada, 'Ada'],
    [bob, 'Bob'],
  ] as const) {
    const sender = { id, name, kind: 'person' } as const;
    const conversation = { channel: 'telegram', chat: id.slice(9) };
    const room = conversationKey(conversation);
    const direct = makeMessage({ id: `${room}:1`, sender, conversation, text: `waiting of ${name}` });
    await store.inbox.accept(direct, { now: 1 });
    const inGroup = makeMessage({
      ...{
        id: `telegram:-100:${id}`,
        sender,
        conversation: group,
        chatType: 'group',
        text: `aside of ${name}`,
      },
    });
    await store.groupContext.add(inGroup, Date.now());
    await store.commit({
      entries: [
        {
          transcript: room,
          entry: { kind: 'user', sender: id, item: direct.id, content: `words of ${name}`, at: 1 },
        },
      ],
      outbox: [{ key: `${direct.id}!answer`, conversation, part: { markdown: `answer to ${name}` } }],
      usage: [
        {
          ...{ day: '2026-01-01', sender: id, conversation: room, skill: '', model: 'm' },
          tokens: { input: 7, output: 1, cacheRead: 0, cacheWrite: 0 },
        },
      ],
    });
    await store.memories.add(
      {
        ...{ id: `note ${name}`, text: `note of ${name}`, scope: 'person', author: id },
        ...{ authorName: name, chat: room, isPrivate: true, isApproved: false, at: 1 },
      },
      9,
    );
    await store.feedback.give({
      ...{ id: `thumb ${name}`, sender: id, thumb: 'down', at: 1 },
      about: { item: direct.id, skills: [], model: 'm', tools: [], message: '5', conversation },
    });
    await store.feedback.explain(`thumb ${name}`, `reason of ${name}`);
    await users.pair({ sender: id, name: `paired ${name}`, since: 1 });
    await users.setTimezone(id, 'Europe/Oslo');
    await pairing.request(makeMessage({ sender: { ...sender, name: `asking ${name}` }, conversation }));
    const field = { kind: 'text', title: 'x', required: false, options: [] } as const;
    await chatSettings.set(
      conversation,
      'weather',
      { ...field, key: 'city', secret: false },
      `city of ${name}`,
      id,
    );
    await chatSettings.set(
      conversation,
      'weather',
      { ...field, key: 'token', secret: true },
      `token-of-${name}`,
      id,
    );
    await store.capabilities.begin(
      {
        ...{ id: `flow ${name}`, sender: id, capability: 'mail', conversation: room },
        ...{ sealed: `sealed ${name}`, dueAt: 1, expiresAt: Date.now() + 1_000_000 },
      },
      1,
    );
    await audit.record({
      event: 'message_refused',
      sender: id,
      conversation: room,
      chatType: 'private',
      code: 'X',
    });
    await files.received.keep(
      chatFolderName(conversationKey(group)),
      { ref: `ref ${name}`, name: `sent-by-${name}.txt`, sender: id },
      1_000_000,
      (to) => writeFile(to, `file of ${name}`),
    );
    const chat = `chats/${chatFolderName(room)}`;
    await folders.use([chat], 'changes', async () => {
      await mkdir(path.join(folders.root, chat), { recursive: true });
      await writeFile(path.join(folders.root, chat, 'kept.txt'), `kept for ${name}`);
    });
  }
}

const stores = [
  ['SQLite', async () => undefined],
  ...(server === undefined ? [] : [['PostgreSQL', () => server.database()] as const]),
] as const;

for (const [name, database] of stores)
  test(`L18 the archive of a person has what the bot holds of them, nothing of others and no secret, on ${name}`, async (t) => {
    const at = await stage(t, await database());
    await fill(at);
    const file = path.join(at.folder, 'ada.tar');
    const made = (await at.operate('person export', { person: ada, file })) as { files: number };
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    const members = await readTar(file);
    const all = [...members].map(([member, text]) => `${member}\n${text}`).join('\n');
    for (const mine of [
      ...['words of Ada', 'waiting of Ada', 'aside of Ada', 'answer to Ada', 'note of Ada', 'reason of Ada'],
      ...[
        'paired Ada',
        'asking Ada',
        'Europe/Oslo',
        'city of Ada',
        'file of Ada',
        'kept for Ada',
        '"input":7',
      ],
      '"capability":"mail"',
    ])
      assert.ok(all.includes(mine), mine);
    const [{ code } = { code: '' }] = (await at.pairing.pending()).filter(({ sender }) => sender === ada);
    for (const not of ['Bob', bob, 'token-of', 'sealed', code]) {
      const found = all.indexOf(not);
      assert.equal(found, -1, all.slice(Math.max(0, found - 80), found + 40));
    }
    const audit = (members.get('audit.jsonl') ?? '').trimEnd().split('\n');
    assert.equal(audit.filter((line) => line.includes('message_refused')).length, 1);
    assert.ok(made.files >= 2);
    // Every file of the archive that the table names is there.
    const named = new Set(Object.values(personPlaces).flatMap((place) => ('in' in place ? [place.in] : [])));
    const there = new Set([...members.keys()].map((member) => member.replace(/\/.*/s, '')));
    assert.deepEqual([...named.difference(there)].sort(), ['questions.jsonl', 'routines.jsonl']);
    await assert.rejects(at.operate('person export', { person: ada, file }), /is there already/);
    await at.operate('forget', ada);
    const empty = path.join(at.folder, 'gone.tar');
    const { records } = (await at.operate('person export', { person: ada, file: empty })) as {
      records: object;
    };
    assert.deepEqual(records, {});
  });

// test/architecture.test.ts looks for namespaces of values and for groups of folders.
test('L18 every table and part of a backup has a row in the table of places', async (t) => {
  const { folder, config } = await stage(t);
  const database = new DatabaseSync(path.join(folder, 'skillet.db'));
  const tables = database
    .prepare(`SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`)
    .all()
    .map(({ name }) => String(name))
    // Tables that SQLite makes for its search index.
    .filter((name) => !/^said_words_/.test(name));
  database.close();
  const ofArchive = archiveParts(config).flatMap(({ name }) => {
    const [place = '', rest = ''] = name.split('/');
    return place === 'data' ? [`data ${rest}`] : place === 'workspace' ? [`folder ${rest}`] : [];
  });
  assert.ok(tables.length > 20 && ofArchive.length > 5);
  const places = new Set([...tables, ...ofArchive]);
  assert.deepEqual([...places.difference(new Set(Object.keys(personPlaces)))], []);
});

test(
  'L18 the tables of PostgreSQL have rows in the table of places, too',
  { skip: server === undefined && noPostgres },
  async (t) => {
    const url = await server!.database();
    await stage(t, url);
    const rows = await server!.run(url, `SELECT tablename FROM pg_tables WHERE schemaname = 'skillet'`);
    const tables = rows.map(({ tablename }) => String(tablename));
    assert.ok(tables.length > 20);
    assert.deepEqual(
      tables.filter((name) => !(name in personPlaces)),
      [],
    );
  },
);

test('L18 a person under a legal hold is not forgotten, also by a hold on a group they spoke in, and the wish is noted', async (t) => {
  const at = await stage(t);
  await fill(at);
  await at.store.commit({
    entries: [
      {
        transcript: 'telegram:-100',
        entry: { kind: 'user', sender: ada, item: 'i', content: 'in the group', at: 1 },
      },
    ],
  });
  for (const held of [ada, 'telegram:-100']) {
    await at.operate('hold add', { id: held, reason: 'case 7' });
    await assert.rejects(at.operate('hold add', { id: held }), /is under a hold already/);
    const before = JSON.stringify(await at.store.person(ada));
    await assert.rejects(at.operate('forget', ada), /Nothing of telegram:42 was removed: .* legal hold/);
    assert.equal(JSON.stringify(await at.store.person(ada)), before);
    assert.equal((await at.users.paired()).length, 2, 'they can still talk');
    const removed = await at.operate('hold remove', { id: held });
    assert.deepEqual(removed, { removed: held, waiting: [ada] });
  }
  await assert.rejects(at.operate('hold remove', { id: ada }), /is under no hold/);
  await assert.rejects(at.operate('hold add', { id: '42' }), /write the whole id of a person or a chat/);
  // Somebody else is not kept from being forgotten.
  await at.operate('hold add', { id: bob });
  await at.operate('forget', ada);
  assert.deepEqual((await at.store.person(ada)).records, []);
  const events = (await at.audit.tail(50)).map(
    (line) => JSON.parse(line) as { event: string; verdict?: string },
  );
  const verdicts = events.flatMap(({ event, verdict }) => (event === 'hold' ? [verdict] : []));
  assert.deepEqual(verdicts, ['added', 'waits', 'removed', 'added', 'waits', 'removed', 'added']);
});

test('L18 retention of files leaves those of people and chats under a hold', async (t) => {
  const at = await stage(t);
  await fill(at);
  const holds = createHolds(at);
  await holds.add({ id: ada, by: 'me' });
  const people = [ada];
  const places = [ada, ...(await at.store.placesNaming(ada))];
  await at.files.tidy(Date.now() + 1_000, 0, [], { people, places });
  const read = (who: string, place: readonly string[]) =>
    at.files.reading({ sender: who, places: place, files: [] }, async ({ folders, files }) => [
      folders.length,
      files.length,
    ]);
  assert.deepEqual(await read(ada, [ada]), [1, 1]);
  assert.deepEqual(await read(bob, [bob]), [0, 0]);
  await at.files.tidy(Date.now() + 1_000, 0, []);
  assert.deepEqual(await read(ada, [ada]), [0, 0]);
});
