import { check } from '../../src/operator/doctor/finding.ts';
import { callSteps, isRun, stepsOf } from './call-steps.ts';
import { openDashboard } from './visit-dashboard.ts';
import { startWholeBot } from './whole-bot.ts';

const toml = `[bot]
name = "Pan"
owner = ["telegram:7"]
[access]
dm = "pairing"
groups = ["telegram:-1001"]
groups_mode = "open"
group_users = ["*"]
[policy]
moderate = "confirm"
approvers = ["telegram:7"]
[skills.diary]
sensitive = true
[skills.research]
allow_users = ["telegram:7"]
`;

function skill(name: string, description: string): string {
  return `---\nname: ${name}\ndescription: ${description}\n---\nDo it.\n`;
}

const monday = {
  name: 'routine_add',
  input: { name: 'News', when: '0 9 * * 1', task: 'Say what is new.', timezone: 'Europe/Berlin' },
};

const checks = [
  check('node', '24.21.0'),
  check('config', 'config.toml'),
  check('skills', '9 skills', [
    { level: 'note', code: 'WEB_SEARCH_MISSING', message: 'research works better with web search' },
  ]),
  check('disk', '120 MB are free', [
    { level: 'warning', code: 'DISK_LOW', message: 'only 120 MB are free in the data directory' },
  ]),
];

/** A bot with something on every page: an approval that waits, a dead letter, a routine, people, costs. */
export async function startDashboardScene(t: Readonly<{ after(end: () => Promise<void>): void }>) {
  const asks = callSteps([
    { name: 'skills_read_file', input: { path: 'SKILL.md' } },
    { name: 'write_file', input: { path: 'deploy.txt', content: 'version = 2.4.1\n' } },
  ]);
  const set = await startWholeBot(t, {
    toml,
    mostTries: 1,
    skills: {
      deploy: skill('deploy', 'Puts a version of the website online.'),
      diary: skill('diary', 'Keeps private notes.'),
    },
    script: (body) => {
      if (isRun(body)) return asks(body);
      const last = JSON.stringify(body.messages.at(-1));
      if (last.includes('Is it raining')) return { status: 529, headers: { 'retry-after': '0' } };
      if (last.includes('Added the routine')) return 'Every Monday at nine.';
      if (last.includes('Remind us')) return stepsOf([monday], '')({ ...body, messages: [] });
      if (last.includes('Good morning')) return 'Good morning, Ben.';
      return asks(body);
    },
  });
  const ben = set.telegram.person({ name: 'Ben' });
  const olga = set.telegram.person({ name: 'Olga' });
  const eve = set.telegram.person({ name: 'Eve' });
  for (const { id, user } of [ben, olga])
    await set.bot.users.pair({ sender: `telegram:${id}`, name: user.first_name, since: Date.now() });
  eve.says('Hello, who are you?');
  await eve.dm.nextMessage();
  const team = set.telegram.group({ title: 'Team' });
  ben.says('Good morning');
  const rated = await ben.dm.nextMessage('Good morning, Ben.');
  await set.bot.idle();
  ben.reacts(rated.id, ['👎']);
  await ben.dm.nextMessage('What was wrong?');
  ben.says('Is it raining?');
  await ben.dm.nextMessage(/model/);
  ben.says('@test_bot Remind us on Mondays', { in: team });
  await team.nextMessage('Every Monday at nine.');
  const dashboard = await openDashboard(t, set, { acts: { as: 'telegram:7' }, checks });
  return {
    dashboard,
    /** Somebody asks for something that needs a yes. */
    async asksForApproval(): Promise<void> {
      olga.says('/deploy version 2.4.1', { in: team });
      await team.nextMessage(/needs a yes to use/);
    },
  };
}
