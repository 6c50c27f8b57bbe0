import { randomUUID } from 'node:crypto';
import { closeSync } from 'node:fs';
import path from 'node:path';
import type { ChatMigrations } from '../../access/chat-migrations.ts';
import type { Users } from '../../access/users.ts';
import { createStillAdmitted, whileAdmitted } from '../../access/while-admitted.ts';
import type { RuntimeConfig } from '../../config/runtime-config.ts';
import { conversationKey } from '../../core/conversation.ts';
import { ModelError } from '../../core/errors.ts';
import { localDay, operatorZone } from '../../core/local-time.ts';
import type { Requester, ToolContext as HostContext } from '../../core/tool.ts';
import { createDeadline } from '../../lib/async/deadline.ts';
import type { Clock } from '../../lib/clock.ts';
import { listInside } from '../../lib/files/list-inside.ts';
import { asText, readBytes, textLimit } from '../../lib/files/read-text.ts';
import { removeFolder } from '../../lib/files/write-inside.ts';
import type { Log } from '../../lib/log.ts';
import type { Budgets } from '../../limits/budgets.ts';
import { createToolSandbox, type Within } from './create-tool-sandbox.ts';
import type { OpenCall } from './define-tool.ts';
import { namedLog, type ToolModel, type Workspace, type WorkspaceEntry } from './tool-context.ts';
import type { Folders } from '../../folders/folders.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { lockedSandbox } from '../../skills/install/locked-skill-store.ts';
import type { SkillLibrary } from '../../skills/skill-library.ts';
import type { Store } from '../../store/store.ts';
import {
  absent,
  chatFolder,
  findInScope,
  makeRunFolders,
  namesOfRun,
  ownFolder,
  openIn,
  readOfSkill,
  runScopes,
  scratchFolders,
  turnScopes,
  type FileScopes,
} from '../../tools/built-in/run-folders.ts';
import { usedBy } from '../../core/model.ts';
import { writeIn } from '../../tools/built-in/file-tools.ts';

/** How many bytes a file may have that is read or written. */
const largest = 20_000_000;

/** Milliseconds that a call may take, unless the run's own limit is shorter. */
const longestMs = 15 * 60_000;

/** Opens the context of a call for a plugin's tool, which shows only what concerns that call (X4). */
export function createPluginCalls(
  options: Readonly<{
    library: SkillLibrary;
    sandbox: Sandbox;
    folders: Folders;
    users: Users;
    budgets: Budgets;
  }>,
  host: Readonly<{
    runtime: () => RuntimeConfig;
    migrations: ChatMigrations;
    store: Store;
    clock: Clock;
    log: Log;
  }>,
): (plugin: string) => OpenCall {
  const { library, sandbox, folders: working, users, budgets } = options;
  const { runtime, migrations, store, clock, log } = host;
  const stillAdmitted = createStillAdmitted(users);

  function modelOf(alias: string | undefined, { requester, run, signal }: HostContext): ToolModel {
    const { models, config } = runtime();
    const wanted = alias ?? config.agent.model;
    const unknown = models.check(wanted);
    if (unknown !== undefined) throw new Error(`no alias under [models] is called ${JSON.stringify(wanted)}`);
    const model = models.get(wanted, (one) => whileAdmitted(one, requester, stillAdmitted));
    return {
      alias: model.alias,
      async complete(request) {
        if (models.offline) throw new Error('no language model is connected');
        const over = await budgets.ofModel(requester, run?.skill);
        if (over !== undefined) throw new Error(over);
        const { system, prompt } = typeof request === 'string' ? { prompt: request } : request;
        const answer = await model
          .complete(
            {
              system: system === undefined ? [] : [{ type: 'text', text: system }],
              messages: [{ role: 'user', content: prompt }],
              tools: [],
            },
            signal,
          )
          .catch(toldPlainly);
        // The tokens count for the requester (U10).
        const use = {
          day: localDay(clock.now(), operatorZone(config)),
          sender: requester.sender,
          conversation: conversationKey(requester.conversation),
          skill: run?.skill ?? '',
        };
        await store.commit({ usage: usedBy(answer, model.alias).map((used) => ({ ...use, ...used })) });
        const text = answer.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('');
        if (text.trim() === '') throw new Error(`the model gave no answer (${answer.stopReason})`);
        return text;
      },
    };
  }

  return (plugin) => async (tool, host) => {
    const { requester, run, signal } = host;
    const { config } = runtime();
    const chatOfAll = chatFolder(working.root, await migrations.original(requester.conversation));
    const chat = ownFolder(chatOfAll, run?.restricted ?? []);
    const scratch = path.join(scratchFolders(working.root), run?.id ?? randomUUID());
    const folders = { scratch, chat };
    const [ofScratch, ofChat] = namesOfRun(folders);
    // Outside of runs, the scratch folder is removed with the call, so it is not stored.
    const names = run === undefined ? [ofChat] : [ofScratch, ofChat];
    const within: Within = (how, work) =>
      working.use(names, how, async () => {
        if (how === 'changes') await makeRunFolders(folders);
        return work();
      });
    const skill = run === undefined ? undefined : library.current().get(run.skill);
    const confined = skill === undefined ? sandbox : lockedSandbox(sandbox, skill);
    const directory = skill?.directory;
    const places: FileScopes =
      skill === undefined ? mainPlaces(folders, sandbox) : runScopes(folders, skill, sandbox);
    const deadline = createDeadline(clock);
    deadline.start(longestMs);
    return {
      context: {
        bot: { name: config.bot.name },
        ...placeOf(requester),
        skill: run?.skill,
        sandbox: createToolSandbox(confined, { ...folders, skillDirectory: directory }, signal, within),
        workspace: createWorkspace(places, config.sandbox.diskMb * 1024 * 1024, within),
        async artifact(artifact) {
          const handed = await host.artifact(artifact);
          if (!handed.ok) throw new Error(handed.problem);
          return { name: handed.name, mime: handed.mime, size: handed.size };
        },
        log: namedLog(log, { plugin, tool }),
        model: (alias) => modelOf(alias, host),
      },
      over: deadline.signal,
      async close() {
        deadline.end();
        // A run removes its scratch folder itself.
        if (run === undefined) await removeFolder(scratch);
      },
    };
  };
}

function toldPlainly(error: unknown): never {
  throw error instanceof ModelError ? new Error(error.sentence, { cause: error }) : error;
}

function placeOf({ conversation, chatType, sender }: Requester) {
  return { conversation, chatType, sender: { id: sender } };
}

function mainPlaces(
  { scratch, chat }: Readonly<{ scratch: string; chat: string }>,
  sandbox: Sandbox,
): FileScopes {
  const seen = sandbox.seen('scratch', scratch);
  const names: FileScopes[0]['seen'] = seen === '/scratch' ? [seen] : [seen, '/scratch'];
  return [{ kind: 'scratch', seen: names, host: scratch }, ...turnScopes(chat, sandbox)];
}

/** Files for a plugin's tool. Failures reject with a message for the model (X4, T13). */
export function createWorkspace(
  places: FileScopes,
  quota: number,
  within: Within = (_how, work) => work(),
): Workspace {
  const bytesOf = (path: string, limit: number): Promise<Buffer> =>
    within('reads', () => bytesAt(path, limit));

  async function bytesAt(path: string, limit: number): Promise<Buffer> {
    const found = findInScope(places, path);
    if (!found.ok) throw new Error(found.message);
    const { place, names } = found;
    if (place.kind === 'skill') return bytesIn(readOfSkill(place, names, limit));
    const descriptor = openIn(place, names);
    if (descriptor === undefined) throw new Error(absent(places, path).message);
    try {
      return bytesIn(readBytes(descriptor, limit));
    } finally {
      closeSync(descriptor);
    }
  }

  return {
    read: async (path) => new Uint8Array(await bytesOf(path, largest)),
    async readText(path) {
      const read = asText(await bytesOf(path, textLimit), path);
      if (!read.ok) throw new Error(read.message);
      return read.text;
    },
    async write(path, data) {
      const bytes = typeof data === 'string' ? Buffer.from(data) : data;
      const problem = await within('changes', () => writeIn(places, path, bytes, { largest, quota }));
      if (problem !== undefined) throw new Error(problem.message);
    },
    async list(path) {
      return within('reads', async () =>
        path === undefined || path === '/'
          ? places.flatMap((place) => listed(places, place.seen[0]))
          : listed(places, path),
      );
    },
  };
}

function listed(places: FileScopes, path: string): readonly WorkspaceEntry[] {
  const found = findInScope(places, path);
  if (!found.ok) throw new Error(found.message);
  const { place, names } = found;
  const root = place.kind === 'skill' ? place.skill.directory : place.host;
  const entries = root === undefined ? [] : (listInside(root, names)?.entries ?? []);
  // Paths begin with the name of the folder that the author asked for.
  const asked = place.seen.find((each) => path === each || path.startsWith(`${each}/`)) ?? place.seen[0];
  const from = [asked, ...names].join('/');
  return entries.map((entry) => ({ ...entry, path: `${from}/${entry.path}` }));
}

type Read = Readonly<{ ok: true; bytes: Buffer } | { ok: false; message: string }>;

function bytesIn(read: Read): Buffer {
  if (read.ok) return read.bytes;
  throw new Error(read.message);
}
