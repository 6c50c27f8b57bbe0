import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { MessagesRequest } from '../servers/messages/request-shape.ts';
import type { ServerStep } from '../servers/messages/answer.ts';
import { startWholeBot } from '../support/whole-bot.ts';

const skills = {
  bericht: '---\nname: bericht\ndescription: Schreibt Berichte.\nbackground: true\n---\nMach einen.\n',
  suche:
    '---\nname: suche\ndescription: Sucht etwas.\nargument-hint: "[was]"\narguments: was\n---\nSuche $was.\n',
  aus: '---\nname: aus\ndescription: Ist aus.\n---\nTu nichts.\n',
  fremd: '---\nname: fremd\ndescription: Ist für andere.\n---\nTu etwas.\n',
  geheim: '---\nname: geheim\ndescription: Liest Geheimes.\nsensitive: true\n---\nLies es.\n',
};
const toml = (owner: string): string =>
  [
    `[bot]\nname = "Bot"\nowner = ["${owner}"]\nshutdown_seconds = 1`,
    '[access]\ndm = "pairing"\ngroups_mode = "allowlist"\ngroup_users = ["*"]',
    '[skills]\nbundled = false\n[skills.aus]\nenabled = false\n[skills.fremd]\nallow_users = ["telegram:7"]\n[policy]\nmoderate = "confirm"\n[memory]\nenabled = true\n',
  ].join('\n');

const errors: Readonly<Record<string, number>> = { 'Fehler 400': 400, 'Fehler 401': 401 };

/** A model that speaks German, writes a file in each run, and fails as its last words say. */
const script = ({ system, messages }: MessagesRequest): ServerStep => {
  const last = JSON.stringify(messages.at(-1));
  const error = Object.keys(errors).find((words) => last.includes(words));
  const text = (words: string) => [{ type: 'text' as const, text: words }];
  if (error !== undefined) return { status: errors[error] ?? 500, message: 'nein' };
  if (last.includes('Fehler lang')) return { content: [], stopReason: 'model_context_window_exceeded' };
  if (last.includes('Fehler weigern')) return { content: [], stopReason: 'refusal' };
  if (last.includes('Fehler kurz')) return { content: text('Halb'), stopReason: 'max_tokens' };
  if (last.includes('Fehler leer')) return { content: [] };
  if (!JSON.stringify({ system, messages }).includes('Mach einen') || last.includes('tool_result'))
    return 'Fertig.';
  const input = { path: 'a.txt', content: 'x' };
  return {
    content: [{ type: 'tool_use', id: 'toolu_1', name: 'write_file', input }],
    stopReason: 'tool_use',
  };
};

const commands =
  'start help skills skill tasks routines status whoami tools settings memory model persona retry stop new exit why'.split(
    ' ',
  );
/** What is refused, unknown, or answered with a question. */
const oddities =
  'skill nichts/suche/geheim/xyz/helo/model nichts/persona Sei nett./settings nichts/settings web_fetch max_length viel/settings timezone Nirgends/settings timezone Europe/Berlin/memory remove x/routines x/tasks stop x/stop x/settings web_fetch'.split(
    '/',
  );

/** About people and chats, with and without a skill. */
const whys = [
  '1001',
  '9',
  '9 -100',
  '9 -100 geheim',
  '1001 -100 geheim',
  '1001 aus',
  '1001 fremd',
  '1001 suche',
];

/** What is typed, named, or addressed: code, addresses, ids, and keys as in the config. */
const unread =
  /\[[\w.]+\](?: \w+)?|\w+ = "?\w+"?|<(code|pre)>[^]*?<\/\1>|`[^`]*`|https?:\/\/\S+|\b\w+:\w+\b|<[^>]*>|&\w+;/gm;
/** Words of English sentences that no German one holds. */
const english =
  /\b(?:the|is|are|of|and|or|you|your|please|with|this|that|not|from|have|has|can|can’t|which|they|step|thinking|choose|save|cancel|yes|always|approve|deny|write|reply|sending|files|reading|next|more|using|running|waiting|started|untitled|nothing|here|only)\b/i;

/** The English of the catalogue that its German differs from, without places for values. */
function untranslated(): readonly string[] {
  const file = new URL('../../src/core/texts/de.json', import.meta.url);
  const catalogue = JSON.parse(readFileSync(file, 'utf8')) as Readonly<Record<string, string>>;
  return Object.entries(catalogue)
    .filter(([sentence, german]) => sentence !== german && sentence.length > 3)
    .flatMap(([sentence]) => sentence.split(/\{\d\}/).map((piece) => piece.trim()))
    .filter((piece) => / /.test(piece) && piece.length > 12);
}

/** Every text in what a platform got, by the name of its field. */
function textsIn(value: unknown, name = ''): readonly (readonly [string, string])[] {
  if (typeof value === 'string') {
    const data = /^[[{]/.test(value) && name !== 'text' ? (JSON.parse(value) as unknown) : undefined;
    return data === undefined ? [[name, value]] : textsIn(data, name);
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, one]) => textsIn(one, Array.isArray(value) ? name : key));
}

const shown = new Set(
  'text caption title status markdown_text initial_comment message description label'.split(' '),
);

function englishIn(calls: readonly (readonly [method: string, args: unknown])[]): readonly string[] {
  const known = untranslated();
  const found = calls.flatMap(([method, args]) =>
    textsIn(args).flatMap(([name, text]) => {
      if (!shown.has(name)) return [];
      const words = text.replace(unread, ' ');
      const bad = english.exec(words)?.[0] ?? known.find((piece) => words.includes(piece));
      return bad === undefined ? [] : [`${method} ${name}: ${bad}: ${text}`];
    }),
  );
  return [...new Set(found)];
}

test('H14 on Telegram a person whose client is German reads no English', async (t) => {
  const set = await startWholeBot(t, { toml: toml('telegram:1001'), skills, script, flood: false });
  const { telegram } = set;
  const olga = telegram.person({ name: 'Olga', id: 1001, language: 'de' });
  const emil = telegram.person({ name: 'Emil', language: 'de' });
  olga.says('/start');
  await olga.dm.nextMessage(/^Hallo/);
  emil.says('Hallo');
  const pairing = await olga.dm.nextMessage(/Emil möchte/);
  for (const choice of ['Freigeben', 'Ablehnen', 'Immer'] as const) {
    olga.says('/bericht');
    const question = await olga.dm.nextMessage(/Innerhalb von 5 Minuten/);
    emil.presses(question.id, choice, olga.dm);
    olga.presses(question.id, choice);
    await telegram.until('an answer', () =>
      olga.dm.sent().find(({ id, text }) => id === question.id && !text.includes('Innerhalb')),
    );
  }
  olga.presses(pairing.id, 'Freigeben');
  olga.presses(pairing.id, 'Ablehnen');
  olga.says('/settings');
  const menu = await olga.dm.nextMessage(/Einstellungen der Werkzeuge/);
  for (const label of menu.buttons) olga.presses(menu.id, label);
  const room = telegram.group({ title: 'Runde' });
  room.setBot('stranger');
  room.setBot('member', olga.user);
  const asked = await olga.dm.nextMessage(/Runde/);
  olga.says('/geheim', { in: room });
  olga.presses(asked.id, 'Erlauben');
  olga.says('/geheim', { in: room });
  olga.says('/help', { in: room });
  for (const command of commands) olga.says(`/${command}`);
  for (const words of oddities) olga.says(`/${words}`);
  for (const words of whys) olga.says(`/why ${words}`);
  for (const name of ['aus', 'fremd']) olga.says(`/${name}`);
  for (const words of [...Object.keys(errors), 'Fehler lang', 'Fehler weigern', 'Fehler kurz', 'Fehler leer'])
    olga.says(words);
  olga.sends({ kind: 'document', name: 'gross.bin', size: 30_000_000 });
  olga.sends({ kind: 'voice', size: 5_000 });
  olga.sends({ kind: 'document', name: 'a.zip', size: 4, bytes: Buffer.from('zzzz') });
  await set.bot.idle();
  const calls = telegram
    .calls()
    .filter(({ method, args }) => method !== 'setMyCommands' || args['language_code'] === 'de')
    .map(({ method, args }) => [method, args] as const);
  assert.ok(calls.length > 40);
  assert.deepEqual(englishIn(calls), []);
});

test('H14 on Slack a person whose client is German reads no English', async (t) => {
  const anna = 'U00000004';
  const held = Promise.withResolvers<void>();
  const set = await startWholeBot(t, {
    toml: toml(`slack:${anna}`),
    slack: 'agent_view = true\n',
    skills,
    channels: ['slack'],
    script: (body) =>
      JSON.stringify(body.messages.at(-1)).includes('Warte')
        ? { content: [{ type: 'text', text: 'Gut.' }], wire: { hold: held.promise, holdBefore: 1 } }
        : script(body),
  });
  const { slack } = set;
  const owner = slack.workspace.addUser('anna', { locale: 'de-DE' });
  const ben = slack.workspace.addUser('ben', { locale: 'de-DE' });
  const dm = slack.workspace.dmWith(owner.id);
  const room = slack.workspace.addRoom('channel', { members: [owner.id, ben.id] });
  const closed = slack.workspace.addRoom('channel', { members: [owner.id], bot: false });
  const said: (readonly [string, unknown])[] = [];
  const slash = async (text: string, where = dm) => {
    said.push(['slash', await slack.people.slash(owner, where, text)]);
  };
  await slack.people.dm(owner, '!help').delivered;
  await slack.people.dm(ben, 'Hallo').delivered;
  await slack.people.openHome(owner);
  await slack.people.openMessages(owner);
  const waiting = slack.people.dm(owner, 'Warte');
  await slack.shown.until(({ kind, status }) => kind === 'status' && status !== '');
  held.resolve();
  await waiting.delivered;
  for (const choice of ['Freigeben', 'Ablehnen', 'Immer']) {
    const { ts } = slack.people.dm(owner, '!bericht');
    const question = await slack.posted(
      ({ text, threadTs }) => threadTs === ts && text.includes('Innerhalb von 5 Minuten'),
    );
    await slack.people.press(ben, question, choice);
    await slack.people.press(owner, question, choice);
  }
  for (const words of ['help', 'settings', 'settings web_fetch', 'memory', 'skill', 'xyz'])
    await slash(words);
  await slash('help', closed);
  await slack.people.addBot(owner, room);
  const asked = await slack.posted(({ text }) => text.includes('nicht eingetragen'));
  await slash('help', room);
  await slack.people.press(owner, asked, 'Erlauben');
  await slash('suche etwas', room);
  await slash('geheim', room);
  slack.faults.next('chat.postMessage', { kind: 'error', error: 'is_archived' });
  await slash('suche etwas', room);
  await set.bot.idle();
  const calls = [...slack.calls.all().map(({ method, args }) => [method, args] as const), ...said];
  assert.ok(calls.length > 40);
  assert.deepEqual(englishIn(calls), []);
});
