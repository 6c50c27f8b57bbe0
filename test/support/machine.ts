import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { knowPeople } from './known-people.ts';
import { startBotProcess, type BotProcess } from './bot-process.ts';

/** What all processes of a bot have in common: the database and the model. */
export const machineConfig = (database: string, model: string): string => `[store]
url = "${database}"
[access]
dm = "open"
users = ["slack:*"]
group_users = ["*"]
groups_mode = "open"
[server]
listen = "127.0.0.1:0"
[log]
format = "json"
level = "debug"
[models.default]
model = "claude-sonnet-5-5"
base_url = "${model}"
api_key = "test-key-0123456789"
`;

/** A bot in a process with a config, data and a workspace of its own, with these skills in it. */
export async function startMachine(
  t: TestContext,
  toml: string,
  skills: Readonly<Record<string, string>>,
): Promise<BotProcess> {
  const folder = await mkdtemp(path.join(tmpdir(), 'skillet-machine-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(skills)) {
    const skill = path.join(folder, 'workspace/skills', name);
    await mkdir(skill, { recursive: true });
    await writeFile(path.join(skill, 'SKILL.md'), content);
  }
  await writeFile(path.join(folder, 'config.toml'), toml, { mode: 0o600 });
  await knowPeople(/^url = "(postgres.*)"$/m.exec(toml)?.[1] ?? `sqlite:${folder}/data/skillet.db`);
  return startBotProcess(t, folder);
}
