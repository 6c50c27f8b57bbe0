import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isRun, resultsIn } from '../support/call-steps.ts';
import { openTallyProvider, tallyMissing } from '../support/tally-provider.ts';
import { startWholeBot, type WholeBotOptions } from '../support/whole-bot.ts';

const skip = tallyMissing();
const skill = (more: string): string => `---\nname: counter\ndescription: Counts.\n${more}---\nCount.\n`;

/** In a run: the call that the person wrote, then what it gave; the main agent says what the run said. */
const obedient: NonNullable<WholeBotOptions['script']> = (body) => {
  if (!isRun(body)) {
    const outputs = [...JSON.stringify(body.messages).matchAll(/<output>(.*?)<\/output>/g)];
    return outputs.at(-1)?.[1]?.slice(0, 1_500) ?? 'Hm.';
  }
  const said = resultsIn(body);
  if (said.length > 0) return `Ended with ${said[0]}`;
  const [, encoded = ''] = /do ([\w+/=]+)/.exec(JSON.stringify(body.messages[0]?.content)) ?? [];
  const [name = '', input] = JSON.parse(Buffer.from(encoded, 'base64').toString()) as [string, object];
  return { content: [{ type: 'tool_use', id: 'toolu_0', name, input }] };
};
const run = (name: string, input: object, of = 'counter'): string =>
  `/${of} do ${Buffer.from(JSON.stringify([name, input])).toString('base64')}`;
const bash = (command: string, of?: string): string => run('bash', { command }, of);
const bump = `skillet-cap invoke tally.counter bump --input '{"by":3}'`;

test(
  'C4 commands reach the capabilities of their skill by skillet-cap, through the one door and no other skill does',
  { skip },
  async (t) => {
    const { command } = await openTallyProvider(t);
    const bot = await startWholeBot(t, {
      sandbox: 'auto',
      flood: false,
      toml: `[access]\ndm = "open"\n[skills]\nbundled = false\n[bot]\nshutdown_seconds = 1\n[capabilities.providers.tally]\ncommand = ${JSON.stringify(command)}\n`,
      script: obedient,
      skills: {
        counter: skill('capabilities: [tally.counter]\n'),
        plain: skill('').replace('name: counter', 'name: plain'),
      },
    });
    const ann = bot.telegram.person({ name: 'Ann' });

    ann.says(run('capability_list', {}, 'plain'));
    assert.doesNotMatch(
      (await ann.dm.nextMessage(/is no tool you may use/)).text,
      /capability_(invoke|auth)/,
    );
    ann.says(bash('skillet-cap list; echo "code $?"', 'plain'));
    await ann.dm.nextMessage(/skillet-cap: (command )?not found[\s\S]*code 127|code 127/);
    ann.says(
      bash(
        'skillet-cap invoke tally.counter about; skillet-cap invoke other.one do; echo "code $?"; skillet-cap forget; echo "code $?"',
      ),
    );
    const several = await ann.dm.nextMessage(/code 2/);
    assert.match(several.text, /A counter in Python/);
    assert.match(several.text, /capability_access_denied[\s\S]*code 1/);

    ann.says(run('capability_auth', { action: 'begin' }));
    const question = await ann.dm.nextMessage(/Is this your account/);
    ann.presses(question.id, 'Use it');
    await bot.telegram.until('the outcome', () => ann.dm.sent().find(({ text }) => /^Linked:/.test(text)));

    ann.says(bash(`${bump}; echo "code $?"`));
    const refused = await ann.dm.nextMessage(/wants to use[\s\S]*capability_invoke/);
    assert.match(refused.text, /capability_invoke[\s\S]*tally\.counter[\s\S]*bump[\s\S]*by[\s\S]*3/);
    ann.presses(refused.id, 'Deny');
    await ann.dm.nextMessage(/capability_mutation_not_confirmed[\s\S]*code 1/);
    ann.says(bash(`${bump} && ${bump}; echo "code $?"`));
    const asked = await ann.dm.nextMessage(/wants to use[\s\S]*capability_invoke/);
    ann.presses(asked.id, 'Approve');
    const done = await ann.dm.nextMessage(/code 0/);
    // The same again in one run is the same call.
    assert.match(done.text, /"value\W+3[\s\S]*already_done[\s\S]*"value\W+3/);
    const audit = await bot.bot.operate('audit tail', { lines: 100 });
    const judged = audit
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter((line) => line['tool'] === 'capability_invoke');
    assert.ok(judged.some(({ policy }) => policy === 'approved'));
  },
);
