import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startWholeBot } from '../support/whole-bot.ts';

const diary = '---\nname: diary\ndescription: Reads the diary.\nsensitive: true\n---\nRead it.\n';
const open = '[access]\ndm = "open"\ngroups_mode = "open"\ngroup_users = ["*"]\n';

test('H14 each person reads the bot in the language of their client, in one group too', async (t) => {
  const { telegram } = await startWholeBot(t, { toml: open, skills: { diary }, privacy: false });
  const friends = telegram.group();
  friends.setBot('administrator');
  const said: Record<string, readonly string[]> = {};
  for (const language of ['de', 'pt-br', 'ja', 'tlh']) {
    const person = telegram.person({ name: 'Kim', language });
    person.says('/diary yesterday', { in: friends });
    const { text, buttons } = await friends.nextShownTo(person);
    said[language] = [text, ...buttons];
  }
  assert.deepEqual(said, {
    de: ['diary geht nur in einer Direktnachricht.', 'Direktnachricht öffnen'],
    'pt-br': ['diary só funciona em mensagem direta.', 'Abrir uma mensagem direta'],
    ja: ['diary はダイレクトメッセージでのみ使えます。', 'ダイレクトメッセージを開く'],
    tlh: ['diary works in a direct message only.', 'Open a direct message'],
  });
});

test('H14 numbers are written as in the language; a stranger reads theirs before anybody knows them', async (t) => {
  const { telegram } = await startWholeBot(t, {
    toml: '[limits]\ntokens_per_day = 1234567\n[access]\nusers = ["telegram:42"]\n',
  });
  const ana = telegram.person({ id: 42, language: 'de' });
  ana.says('/status');
  assert.match((await ana.dm.nextMessage()).text, /Deine Tokens heute: 0 von 1\.234\.567/);
  const eve = telegram.person({ name: 'Eve', language: 'ru' });
  eve.says('пустите меня');
  assert.match((await eve.dm.nextMessage()).text, /Я вас ещё не знаю\. Ваш код сопряжения: [A-Z2-9]{8}/);
});

test('H14 [bot] language holds for everybody, after a restart too', async (t) => {
  const { telegram, restart } = await startWholeBot(t, { toml: `[bot]\nlanguage = "fr"\n${open}` });
  const ann = telegram.person({ language: 'de' });
  ann.says('/stop');
  assert.equal((await ann.dm.nextMessage()).text, "Rien n'est en cours ici.");
  await restart();
  ann.says('/stop');
  assert.equal((await ann.dm.nextMessage()).text, "Rien n'est en cours ici.");
});

test('H14 I1 the menus are set for each language, in its words', async (t) => {
  const { telegram } = await startWholeBot(t, { toml: open });

  const help = await telegram.until('menus in Chinese', () =>
    telegram
      .calls('setMyCommands')
      .filter(({ args }) => args['language_code'] === 'zh')
      .map(({ args }) => JSON.stringify(args['commands']))
      .find((commands) => commands.includes('help')),
  );
  assert.match(help, /停止我正在做的事/);
  const languages = new Set(telegram.calls('setMyCommands').map(({ args }) => args['language_code']));
  assert.ok(languages.has(undefined), 'others read English');
});

test('H14 X3 settings are chosen, asked for, refused and read in the language of the person', async (t) => {
  const { telegram } = await startWholeBot(t, {
    toml: '[bot]\nowner = ["telegram:1001"]\n[access]\ndm = "open"\n',
  });
  const olga = telegram.person({ name: 'Olga', id: 1001, language: 'de' });
  olga.says('/settings');
  const menu = await olga.dm.nextMessage(/Einstellungen der Werkzeuge in diesem Chat/);
  assert.deepEqual(menu.buttons, ['📝 Gedächtnis', '🌐 Seiten lesen', 'Fertig']);
  const press = async (label: string, match: RegExp) => {
    olga.presses(menu.id, label);
    return telegram.until(String(match), () =>
      olga.dm.sent().find(({ id, text }) => id === menu.id && match.test(text)),
    );
  };
  await press('🌐 Seiten lesen', /Längste Seite: 26000 Zeichen \(Standard\)/);
  await press('Längste Seite', /Wie viel von einer Seite[^]*Oder schreib den Wert .* als deine nächste/);
  olga.says('viel');
  await olga.dm.nextMessage(
    'Seiten lesen, Längste Seite: Das geht nicht. Bitte schreib eine ganze Zahl von 1000 bis 26000',
  );
  const jean = telegram.person({ language: 'fr' });
  jean.says('/settings');
  await jean.dm.nextMessage('Seul un propriétaire ou un approbateur peut modifier les réglages.');
});

test('H14 X2 tools are listed in the language of the person', async (t) => {
  const { telegram } = await startWholeBot(t, { toml: open });
  const ann = telegram.person({ language: 'es' });
  ann.says('/tools');
  const { text } = await ann.dm.nextMessage(/web_fetch/);
  assert.match(text, /🌐 Leer páginas web_fetch 🟢 seguro: Lee una página de la internet pública\./);
});

test('H14 owners are told in the language that they last wrote in, buttons too, after a restart as well', async (t) => {
  const set = await startWholeBot(t, { toml: '[bot]\nowner = ["telegram:7"]\n' });
  const owner = set.telegram.person({ id: 7, language: 'de' });
  owner.says('/whoami');
  await owner.dm.nextMessage();
  await set.restart();
  const eve = set.telegram.person({ name: 'Eve', language: 'fr' });
  eve.says('bonjour');
  const asked = await owner.dm.nextMessage();
  assert.match(
    asked.text,
    /^Eve möchte diesen Bot nutzen: ID telegram:\d+\. Code [A-Z2-9]{8}, eine Stunde gültig\.$/,
  );
  assert.deepEqual(asked.buttons, ['Freigeben', 'Ablehnen']);
});
