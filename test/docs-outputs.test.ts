import assert from 'node:assert/strict';
import { chmod } from 'node:fs/promises';
import { test } from 'node:test';
import { sandboxHere } from './support/bubblewrap-here.ts';
import { blocksOf, documents, root, words } from './support/documents.ts';
import { openCliHome, type CliHome } from './support/run-cli.ts';
import { openRunningBot } from './support/running-bot.ts';

/**
 * Each `$ skillet …` that documents show with what it prints. test/docs-init has `init`, test/end-to-end/public-skills
 * `chat`, test/end-to-end/feedback-to-test the page
 * about feedback, test/cli/prove.test.ts the one for auditors. `rehearse` is in test/operator/rehearse.test.ts. `sandbox status` says what a machine can do, `mcp list` what servers say.
 */
const shown = documents()
  .filter(({ file }) => !['docs/how-to/feedback.md', 'docs/how-to/prove.md'].includes(file))
  .flatMap(({ file, text }) =>
    blocksOf(text).flatMap((block) => {
      const [command = '', ...printed] = block.text.split('\n');
      return /^\$ skillet (?!init|chat|sandbox|mcp|rehearse)/.test(command)
        ? [{ file, command: command.slice(2), printed: printed.join('\n').trim() }]
        : [];
    }),
  );

/** The rules that the pages have written down before they ask about them. */
const config = `[bot]
owner = ["telegram:4000001"]
[access]
users = ["telegram:42"]
group_users = ["*"]
groups = ["telegram:-100", "telegram:-1002000000001", "slack:C00000001"]
chats."telegram:-100" = { group_users = [] }
`;
const rule =
  '[skills.opening-hours]\nchat_types = ["private", "group"]\nallow_users = ["telegram:4000001"]\n';

test('L17 what the documents show of commands is what they print', async (t) => {
  const home = await openCliHome(t);
  const accessPage = documents().find(({ file }) => file === 'docs/how-to/access.md')?.text ?? '';
  await home.write(
    'access.tests.toml',
    blocksOf(accessPage).find(({ text }) => text.startsWith('[[test]]'))?.text ?? '',
  );
  await home.write('config.toml', `${config}[telegram]\ntoken = "$TELEGRAM_BOT_TOKEN"\n${sandboxHere}`);
  await chmod(
    await home.write('.env', `TELEGRAM_BOT_TOKEN=123456:${'A'.repeat(35)}\nANTHROPIC_API_KEY=sk-1\n`),
    0o644,
  );
  // Most tell what the config says; one makes the skill that a rule is about; the last three look at a bot that works.
  const turn = (command: string): number =>
    /^skillet (?:status|tasks|audit|backup)/.test(command)
      ? 3
      : command.includes('opening-hours')
        ? command.includes(' new ')
          ? 1
          : 2
        : 0;
  const pages = shown.toSorted((a, b) => turn(a.command) - turn(b.command));
  assert.ok(pages.length >= 10, String(pages.length));
  const wrong: string[] = [];
  let at = 0;
  for (const { file, command, printed } of pages) {
    if (turn(command) > at) {
      at = turn(command);
      if (at === 2) await home.write('config.toml', config + rule);
      if (at === 3) await work(home);
    }
    const args = words(command.replace(' /backups/', ' ./')).slice(1);
    const { stdout } = await home.run(args);
    if (plain(stdout, home) !== plain(printed, home)) wrong.push(`${file}: ${command}\n${stdout}`);
  }
  assert.deepEqual(wrong, []);

  /** A bot that was asked for a die. */
  async function work(at: CliHome): Promise<void> {
    await at.write('.env', '');
    const bot = await openRunningBot(t, at, config + rule);
    const ann = bot.telegram.person({ name: 'Ann', id: 4_000_001 });
    ann.says('/dice d6');
    await ann.dm.nextMessage();
    await at.run(['pair', 'list']);
  }
});

/** Places, times, sizes and counts are of the machine. */
function plain(text: string, { folder }: CliHome): string {
  return (
    text
      .trim()
      .replaceAll(folder, '/srv/bot')
      .replaceAll(root, '/srv/skillet')
      .replace(/\/srv\/bot\/(?:backups\/)?|\/backups\//g, '/srv/bot/')
      .replace(/\d{4}-\d\d-\d\d[T ][\d:]+(?:Z| UTC)/g, 'TIME')
      .replace(/\b\d[\d.]* (?:bytes|[kM]B|ms|s)\b/g, 'N')
      .replace(/(?<![\w:-])\d+(?: files?)?(?![\w.])|:\d+(?=\))/g, 'N')
      // Without bubblewrap: virtual.
      .replace(/^(. sandbox) .*$/m, '$1')
      .replace(/ +/g, ' ')
  );
}
