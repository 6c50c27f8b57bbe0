import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { openCliHome } from '../support/run-cli.ts';

const telegram = '[telegram]\ntoken = "123456789:AAExampleExampleExampleExampleExample"\n';

/** The keys stand in the lines 4 to 8. */
function routine(more: Readonly<Record<string, string>>): string {
  const fine = {
    when: '0 9 * * 1',
    as: 'telegram:42',
    conversation: 'telegram:-100123',
    timezone: 'Asia/Tokyo',
  };
  const lines = Object.entries({ ...fine, ...more }).map(([key, value]) => `${key} = "${value}"\n`);
  return `[[routines]]\n${lines.join('')}name = "a"\ntask = "x"\n`;
}

async function check(t: TestContext) {
  const home = await openCliHome(t);
  return async (toml: string) => {
    await home.write('config.toml', toml);
    return { ...(await home.run(['config', 'check'])), start: () => home.run(['start']) };
  };
}

const refused: readonly (readonly [Readonly<Record<string, string>>, RegExp])[] = [
  [
    { when: 'soon' },
    /config\.toml:4: error ROUTINE_UNUSABLE: routines\[0\]\.when: "soon" is no time\. Write a time/,
  ],
  [{ when: '0 9 31 2 *' }, /config\.toml:4: .*"0 9 31 2 \*" never comes/],
  [
    { as: 'slack:U1' },
    /config\.toml:5: .*routines\[0\]\.as: "slack:U1" is not of telegram, .*"telegram:42"\./,
  ],
  [{ as: 'telegram:-42' }, /config\.toml:5: .*is a group\. Write the id of a person/],
  [
    { conversation: 'telegram:43' },
    /config\.toml:5: .*only routines of its own person\. Write "telegram:43"\./,
  ],
  [
    { conversation: 'slack:C1' },
    /config\.toml:6: .*routines\[0\]\.conversation: Slack is not set up\. Write \[slack\]/,
  ],
  [{ conversation: 'team' }, /config\.toml:6:1: routines\[0\]\.conversation is "team": write channel and id/],
  [
    { timezone: 'Mars/Base' },
    /config\.toml:7:1: routines\[0\]\.timezone is "Mars\/Base": write a zone such as/,
  ],
];

test('N2 G2 config check and the start refuse [[routines]] that could never run, with the line and the fix', async (t) => {
  const checked = await check(t);
  for (const [more, words] of refused) {
    const said = await checked(telegram + routine(more));
    assert.match(said.stdout, words);
    assert.equal(said.code, 1, String(words));
    const started = await said.start();
    assert.deepEqual([started.code, started.stderr], [1, said.stdout]);
  }
  const { code, stdout } = await checked(telegram + routine({}));
  assert.deepEqual([code, /is fine/.test(stdout)], [0, true], stdout);
});

test('N2 a time of [[routines]] that has passed only warns, as it may have run', async (t) => {
  const checked = await check(t);
  const { stdout } = await checked(telegram + routine({ when: '2020-01-01T09:00' }));
  assert.match(stdout, /config\.toml:4: warning ROUTINE_UNUSABLE: .*is in the past/);
});
