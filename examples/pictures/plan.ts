import type { TestContext } from 'node:test';
import { startWholeBot, type WholeBotOptions } from '../../test/support/whole-bot.ts';
import type { Drawing, Shown } from './draw.ts';
import { noted, saidBy } from './said-by.ts';
import { planOnSlack, shownOnSlack } from './shown-on-slack.ts';

const report =
  '---\nname: report\ndescription: Reports the sales of a week.\nallowed-tools: write_file bash\n---\nWrite the numbers down, add them up, and say the sum.\n';
const words = 'how much did we sell this week?';

/** Shows the steps of a turn in Slack's agent view while it works and when it is done. */
export async function plan(t: TestContext): Promise<readonly Drawing[]> {
  const held = Promise.withResolvers<void>();
  const { slack } = await startWholeBot(t, {
    channels: ['slack'],
    slack: 'agent_view = true\n',
    toml: '[access]\ndm = "open"\n',
    skills: { report },
    script: reporting(held.promise),
  });
  const olga = slack.workspace.addUser('Olga');
  slack.people.dm(olga, words);
  const shows = async (...statuses: readonly string[]): Promise<Shown> => {
    const { message } = await slack.changes.until(
      ({ message: { plan: shown } }) => shown?.tasks.map(({ status }) => status).join() === statuses.join(),
    );
    return planOnSlack(structuredClone(message), '16:30');
  };
  const working = await shows('in_progress', 'complete', 'complete');
  held.resolve();
  const answer = await slack.posted(({ text }) => /^We /.test(text));
  const done = await shows('complete', 'complete', 'complete');
  return [
    {
      platform: 'Slack',
      title: 'Skillet',
      shown: [
        saidBy('Olga', '16:30', words),
        noted('while it works', working),
        noted('a moment later', done),
        shownOnSlack(answer, '16:30'),
      ],
    },
  ];
}

/** Has the skill write numbers and add them up, and says only what the command printed; the run ends when `held` resolves. */
function reporting(held: Promise<void>): NonNullable<WholeBotOptions['script']> {
  const call = (name: string, input: object) => ({
    content: [{ type: 'tool_use' as const, id: `toolu_${name}`, name, input }],
  });
  return (body) => {
    const all = JSON.stringify(body.messages);
    const sum = /sold \d+/.exec(all)?.[0];
    if (!JSON.stringify(body.system).includes('You carry out the skill'))
      return sum === undefined
        ? call('use_skill', { skill: 'report', message: 'What was sold this week?' })
        : `We **${sum}** this week.`;
    if (!all.includes('"write_file"'))
      return call('write_file', { path: 'sales.txt', content: '12\n9\n20\n' });
    if (sum === undefined)
      return call('bash', { command: `awk '{ n += $1 } END { print "sold " n }' sales.txt` });
    return { content: [{ type: 'text', text: sum }], wire: { hold: held } };
  };
}
