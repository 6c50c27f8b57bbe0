import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { startWholeBot, type WholeBotOptions } from '../../test/support/whole-bot.ts';
import type { Drawing } from './draw.ts';
import { noted, saidBy } from './said-by.ts';
import { openDetailsOnSlack, shownAlone, shownOnSlack } from './shown-on-slack.ts';

const skills = {
  'read-log':
    '---\nname: read-log\ndescription: Reads the log of a service.\nallowed-tools: skills_run_script\n---\nRun scripts/read.sh with the name of the service.\n',
  restart:
    '---\nname: restart\ndescription: Restarts a service and reports it.\nallowed-tools: bash write_file send_file\n---\nRun scripts/restart.sh with the name of the service, then write and send a report.\n',
};

const scripts = {
  'read-log/scripts/read.sh': `#!/bin/bash
log="$(dirname "$0")/$1.log"
echo "$(grep -c 'pool exhausted' "$log") times since $(grep -m 1 'pool exhausted' "$log" | cut -d ' ' -f 1)"
`,
  'read-log/scripts/checkout.log': [
    '13:58 release 318 is live',
    ...Array.from(
      { length: 41 },
      (_, at) => `14:${String(2 + Math.floor(at / 6)).padStart(2, '0')} pool exhausted: no free connection`,
    ),
  ].join('\n'),
  'restart/scripts/restart.sh': `#!/bin/bash\necho "$1: up again after 4 s"\n`,
};

const words = {
  ask: 'checkout fails for customers. What does its log say?',
  restart: 'restart it, and write down what happened',
};

/** Says only what the scripts printed. */
const script: NonNullable<WholeBotOptions['script']> = (body, index) => {
  const call = (name: string, input: object) => ({
    content: [{ type: 'tool_use' as const, id: `toolu_${index}`, name, input }],
  });
  const all = JSON.stringify(body.messages);
  const last = JSON.stringify(body.messages.at(-1));
  const skill = /You carry out the skill [^a-z]*([a-z-]+)/.exec(JSON.stringify(body.system))?.[1];
  const counted = /\d+ times since [\d:]+/.exec(all)?.[0];
  const up = /up again after \d+ s/.exec(all)?.[0];
  if (skill === 'read-log')
    return counted ?? call('skills_run_script', { path: 'scripts/read.sh', args: ['checkout'] });
  if (skill === 'restart') {
    if (up === undefined) return call('bash', { command: 'scripts/restart.sh checkout' });
    if (!all.includes('"write_file"'))
      return call('write_file', {
        path: 'incident-checkout.md',
        content: `# checkout\n\nPool exhausted. Restarted: ${up}.\n`,
      });
    if (!all.includes('"send_file"')) return call('send_file', { path: 'incident-checkout.md' });
    return `checkout: ${up}`;
  }
  if (last.includes(words.restart) && !last.includes('tool_result'))
    return call('use_skill', { skill: 'restart', message: 'Restart checkout and report it.' });
  if (last.includes(words.ask) && !last.includes('tool_result'))
    return call('use_skill', { skill: 'read-log', message: 'What does the log of checkout say?' });
  if (up !== undefined) return `checkout is **${up}**. The report is in the file.`;
  return `“pool exhausted”, **${counted ?? 'never'}**: four minutes after release 318. A restart frees the connections.`;
};

/** An incident: the log is read at once, a restart waits for the yes of somebody else, who sees the call alone, and a file says what happened. */
export async function incident(t: TestContext): Promise<readonly Drawing[]> {
  const whole = await startWholeBot(t, {
    channels: ['slack'],
    toml: '[access]\nusers = ["slack:*"]\ngroups_mode = "open"\ngroup_users = ["*"]\n',
    skills,
    script,
  });
  const { slack, home } = whole;
  for (const [file, text] of Object.entries(scripts)) {
    const place = path.join(home, 'workspace/skills', file);
    await mkdir(path.dirname(place), { recursive: true });
    await writeFile(place, text, { mode: 0o755 });
  }
  const [olga, ben] = [slack.workspace.addUser('Olga'), slack.workspace.addUser('Ben')];
  await whole.reconfigure(`[access]\nusers = ["slack:*"]\ngroups_mode = "open"\ngroup_users = ["*"]
[policy]\napprovers = ["slack:${ben.id}"]
[[policy.rules]]\ntool = "bash"\nskill = "restart"\naction = "confirm"\n`);
  await whole.restart();
  const room = slack.workspace.addRoom('channel', { members: [olga.id, ben.id], name: 'incidents' });
  const root = slack.people.mention(olga, room, words.ask);
  const found = shownOnSlack(await slack.posted(({ text }) => /pool exhausted/.test(text)), '14:11');
  slack.people.mention(olga, room, words.restart, { thread: root.ts });
  const question = await slack.posted(({ text }) => /needs a yes/.test(text));
  const asked = shownOnSlack(structuredClone(question), '14:12');
  const details = await openDetailsOnSlack(slack, ben, question);
  await slack.people.pressAlone(ben, details, 'Approve');
  const agreed = await slack.posted(({ ts, text }) => ts === question.ts && /Approved/.test(text));
  const done = await slack.posted(({ text, threadTs }) => threadTs === root.ts && /The report is/.test(text));
  const file = await slack.posted(({ files }) => (files ?? []).length > 0);
  return [
    {
      platform: 'Slack',
      title: '# incidents',
      shown: [
        saidBy('Olga', '14:11', words.ask, '@skillet'),
        found,
        { ...saidBy('Olga', '14:12', words.restart, '@skillet'), inThread: true },
        asked,
        noted('Ben presses Details, and he alone sees', shownAlone(details, '14:12')),
        shownOnSlack(agreed, '14:12'),
        shownOnSlack(file, '14:13'),
        shownOnSlack(done, '14:13'),
      ],
    },
  ];
}
