import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  startMessagesServer,
  type MessagesServer,
  type Script,
} from '../test/servers/messages/messages-server.ts';
import { startSlackServer, type SlackServer } from '../test/servers/slack/start-slack-server.ts';
import type { Person } from '../test/servers/telegram/person.ts';
import { startTelegramServer, type TelegramServer } from '../test/servers/telegram/start-telegram-server.ts';

/** A bot in a process of its own, between a Telegram server and a Messages server. */
export type Stage = Readonly<{
  telegram: TelegramServer;
  messages: MessagesServer;
  slack: SlackServer | undefined;
  /** When the last request reached the Messages server, by `performance.now()`. */
  lastAsked(): number;
  /** Milliseconds from starting the process to its first poll. */
  startMs: number;
  /** Folder of config, data and workspace. */
  home: string;
  pid: number | undefined;
  /** Resident memory of the process, MB. */
  memoryMb(): Promise<number>;
  close(): Promise<void>;
}>;

export type StageOptions = Readonly<{
  bot: 'bare' | 'skillet';
  /** The checkout whose Skillet runs; this one by default. */
  checkout?: string;
  /** Milliseconds the model thinks. */
  modelMs: number;
  /** Slack beside Telegram. */
  slack?: boolean;
  /** With its agent view, which older checkouts don't know. */
  agentView?: boolean;
  /** Skills in the workspace, beside those bundled. */
  skills?: number;
  /** What the model says, and the milliseconds between two pieces of it. */
  answer?: Readonly<{ text: string; dripMs: number }>;
  /** What the model says, instead of `answer`. */
  script?: Script;
  /** More of the config file. */
  config?: string;
}>;

const root = path.join(import.meta.dirname, '..');

/** Starts servers and bot, and resolves when the bot asks for updates. */
export async function openStage({
  bot,
  checkout = root,
  modelMs,
  slack = false,
  agentView = false,
  skills = 0,
  answer = { text: usualAnswer, dripMs: 0 },
  script,
  config = '',
}: StageOptions): Promise<Stage> {
  const telegram = await startTelegramServer({ privacy: false, flood: false, patienceMs: 30_000 });
  const messages = await startMessagesServer({
    script:
      script ??
      (() => {
        const { text, dripMs } = answer;
        return {
          content: [{ type: 'text', text }],
          wire: { delayMs: modelMs, pings: false, ...(dripMs === 0 ? {} : { dripMs }) },
        };
      }),
  });
  const slackServer = slack ? await startSlackServer() : undefined;
  const home = await mkdtemp(path.join(tmpdir(), 'skillet-bench-'));
  await writeSkills(path.join(home, 'workspace', 'skills'), skills);
  await writeFile(
    path.join(home, 'config.toml'),
    configText(telegram, messages, config + slackText(slackServer, agentView)),
    { mode: 0o600 },
  );
  // What `npm start` runs: flags and environment included.
  const { scripts } = JSON.parse(await readFile(path.join(checkout, 'package.json'), 'utf8')) as {
    scripts: { start: string };
  };
  const command =
    bot === 'bare'
      ? `node '${root}/bench/bare-bot.ts' ${telegram.url} ${telegram.token} ${messages.url}`
      : `${scripts.start} --config '${home}/config.toml'`;
  const began = performance.now();
  const child = spawn('sh', ['-c', `exec env ${command}`], {
    cwd: checkout,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: `${path.dirname(process.execPath)}:${process.env['PATH']}`, HOME: home },
  });
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const gone = once(child, 'exit').then(() => {
    throw new Error(`the ${bot} bot ended: ${errors}`);
  });
  gone.catch(() => undefined);
  await Promise.race([gone, telegram.until('the first poll', () => telegram.calls('getUpdates').length > 0)]);
  const startMs = performance.now() - began;
  return {
    telegram,
    messages,
    slack: slackServer,
    lastAsked: () => messages.requests.at(-1)?.arrivedAt ?? 0,
    startMs,
    home,
    pid: child.pid,
    memoryMb: () => residentMb(child),
    async close() {
      child.kill('SIGTERM');
      await once(child, 'exit').catch(() => undefined);
      await Promise.all([
        telegram.close(),
        messages.close(),
        slackServer?.close(),
        rm(home, { recursive: true, force: true }),
      ]);
    },
  };
}

/** What the model says by default. */
const usualAnswer = 'Fine.';

/** Answers that a person got in their direct message. */
export function answersTo(person: Person): number {
  return person.dm.sent().filter(({ text }) => text === usualAnswer).length;
}

/** A person who was answered once: a first contact is also told who speaks (U19). */
export async function knownPerson({ telegram }: Stage): Promise<Person> {
  const person = telegram.person();
  person.says('hello');
  await telegram.until('the first answer', () => answersTo(person) > 0 || undefined);
  return person;
}

function configText(telegram: TelegramServer, messages: MessagesServer, more: string): string {
  return `[telegram]
token = "${telegram.token}"
api_root = "${telegram.url}"
paced = false
[access]
dm = "open"
groups_mode = "open"
group_users = ["*"]
[models.default]
model = "claude-sonnet-5-5"
base_url = "${messages.url}"
api_key = "bench-key-1234"
${more}`;
}

function slackText(slack: SlackServer | undefined, agentView: boolean): string {
  if (slack === undefined) return '';
  return `\n[slack]\nbot_token = "${slack.tokens.bot}"\napp_token = "${slack.tokens.app}"\napi_url = "${slack.url}"\n${agentView ? 'agent_view = true\n' : ''}`;
}

async function writeSkills(folder: string, count: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    const name = `bench-skill-${n}`;
    await mkdir(path.join(folder, name), { recursive: true });
    const text = `---\nname: ${name}\ndescription: Does thing number ${n} when somebody asks for it, and says what came of it.\n---\n\nDo thing ${n}.\n`;
    await writeFile(path.join(folder, name, 'SKILL.md'), text);
  }
}

/** Linux only: elsewhere there is no cheap way to ask for another process's memory. */
async function residentMb({ pid }: ChildProcess): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1024;
}
