import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { LoopResult } from '../agent/next-step.ts';
import { createModels } from '../agent/models/create-models.ts';
import { runLoop } from '../agent/run-loop.ts';
import { activatedBy, activeInTurn } from '../agent/show-to.ts';
import type { App } from '../app.ts';
import { createAgent } from '../bot/create-agent.ts';
import { createApp } from '../bot/create-app.ts';
import type { Config } from '../config/complete-config.ts';
import type { CreateTurnContext } from '../conversations/turn-context.ts';
import type { Entry } from '../core/entry.ts';
import type { Feature } from '../core/feature.ts';
import type { Message } from '../core/message.ts';
import { noTokens, onlyModel, type Tokens } from '../core/model.ts';
import { type ToolSpec, readOnly, serverToolPrefix } from '../core/tool.ts';
import { allTools, featureList } from '../features/list.ts';
import { openPlugins } from '../features/plugins/plugins.ts';
import { openFolders } from '../folders/open-folders.ts';
import { systemClock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { openHealth } from '../operator/health/open-health.ts';
import {
  answerFromRecord,
  recordedTools,
  type RehearsedCall,
} from '../operator/rehearse/answer-from-record.ts';
import { tokensIn, type RecordedTurn, type TurnSample } from '../operator/rehearse/recorded-turns.ts';
import { noTracing } from '../operator/tracing/tracing.ts';
import { createQuestions } from '../runs/questions.ts';
import { openSkillSandbox, skillRoots } from '../skills/open-library.ts';
import { createSkillLibrary } from '../skills/skill-library.ts';
import type { IsApproved } from '../skills/written-skills.ts';
import { openStore } from '../store/open-store.ts';
import { noAudit } from './skill-tests/run-case.ts';

/** How a model answers a turn of the record. `fault` says why there is no whole answer; undefined if there is one. */
export type AnsweredAgain = Readonly<{
  text: string;
  tokens: Tokens;
  calls: readonly RehearsedCall[];
  fault?: string | undefined;
}>;

type Answerer = Readonly<{
  answer(
    turn: TurnSample['turns'][number],
    recorded: RecordedTurn,
    signal: AbortSignal,
  ): Promise<AnsweredAgain>;
}>;

type Of = Readonly<{ config: Config; model: string; approvals(): Promise<IsApproved>; log: Log }>;

/**
 * Opens what answers turns of the record with a model of a config: the prompt, skills and tools that it gives, over a
 * store in memory that knows what owners decided. No tool, server or channel starts, and nothing is kept (L20).
 */
export async function withAnswerer<Result>(
  of: Of,
  known: TurnSample['known'],
  work: (answerer: Answerer) => Promise<Result>,
): Promise<Result> {
  await using opened = new AsyncDisposableStack();
  const { log } = of;
  const scratch = await mkdtemp(path.join(tmpdir(), 'skillet-rehearse-'));
  opened.defer(() => rm(scratch, { recursive: true, force: true }));
  const plugins = await openPlugins(of.config, { builtInTools: allTools(), clock: systemClock, log });
  opened.defer(plugins.close);
  const library = await createSkillLibrary({
    roots: skillRoots(of.config, plugins.skillFolders),
    cacheDir: path.join(scratch, 'cache'),
    strict: of.config.skills.strict,
    approvals: of.approvals,
    log,
  });
  opened.defer(library.close);
  const config = elsewhere(of.config, scratch);
  const skillSandbox = await openSkillSandbox(config, log);
  opened.defer(skillSandbox.sandbox.close);
  const store = await openStore('sqlite::memory:', { log });
  opened.defer(store.close);
  for (const [namespace, values] of Object.entries(known))
    for (const [key, value] of values) await store.keyed(namespace).set(key, value);
  const health = await openHealth({ store, clock: systemClock, log });
  const meter = { count: () => undefined, turn: () => undefined };
  const { app, files } = createApp(
    {
      config,
      folders: await openFolders(config, store, log),
      ...{ library, skillSandbox, plugins, channels: [] },
      makeModels: ({ models }) =>
        onlyModel(createModels({ ...models, fallback: [] }, { log, clock: systemClock }).get(of.model)),
      host: {
        health: { ...health.ofStore, readiness: health.readiness },
        ...{ store, audit: noAudit, meter, env: process.env, clock: systemClock, log },
      },
    },
    () => features,
  );
  const explain = (): never => {
    throw new Error('nobody asks for access in a rehearsal');
  };
  const features: readonly Feature[] = featureList.map(({ create }) =>
    create(app, { plugins, explain, features: () => features }),
  );
  const questions = createQuestions(app);
  const agent = createAgent(app, features, { questions, received: files.received, tracing: noTracing });
  return await work({ answer: (...turn) => answerAgain(app, agent.createContext, ...turn) });
}

/** The config with folders that end with the rehearsal. */
function elsewhere(config: Config, scratch: string): Config {
  const bot = { ...config.bot, dataDir: path.join(scratch, 'data'), workspace: path.join(scratch, 'work') };
  return { ...config, bot };
}

async function answerAgain(
  app: App,
  createContext: CreateTurnContext,
  turn: TurnSample['turns'][number],
  { before, start, record }: RecordedTurn,
  signal: AbortSignal,
): Promise<AnsweredAgain> {
  const { clock } = app;
  const message = messageOf(turn);
  const calls: RehearsedCall[] = [];
  const made: Entry[] = [];
  const decided = await app.users.decide(message);
  if (!decided.allowed)
    return {
      text: '',
      tokens: noTokens,
      calls,
      fault: `the new config refuses this message: ${decided.code}`,
    };
  const context = await createContext({
    item: itemOf(turn, message),
    ...{ message, use: await app.accessOf(message), transcript: turn.transcript },
    progress: () => undefined,
    step: () => undefined,
  });
  const { model } = context;
  for (const activeSkill of activeInTurn(before)) context.activate(activeSkill);
  const joined = record.flatMap((entry) => (entry.kind === 'user' ? [entry] : []));
  const foreign = foreignTools(record, context.tools, app);
  // A search by the model's server would be a call that runs.
  const tools = () => [...context.shown().map((tool) => ({ ...tool, byModel: undefined })), ...foreign];
  const offers = (tool: string): boolean => tools().some(({ name }) => name === tool);
  const result = await runLoop(
    {
      ...{ system: context.system, entries: before, turnStart: start, maxIterations: context.maxTurns },
      viewers: context.viewers,
    },
    {
      // Budgets are of people, and this is the operator's own work.
      model: { ...model, mayCall: undefined },
      tools,
      callTool: answerFromRecord(record, offers, (call) => calls.push(call)),
      async append(entry) {
        made.push(entry);
        const activeSkill = activatedBy(entry);
        if (activeSkill !== undefined) context.activate(activeSkill);
      },
      async join() {
        const entry = joined.shift();
        return entry === undefined ? undefined : { entry, settles: '' };
      },
      ...{ signal, clock },
    },
  );
  const text = result.code === 'MODEL_ERROR' ? '' : result.text;
  return { text, tokens: tokensIn(made), calls, fault: faultOf(result) };
}

/** Tools of servers that the record has calls of. None is connected, so their schemas are not known. */
function foreignTools(
  record: readonly Entry[],
  tools: readonly ToolSpec[],
  { config }: App,
): readonly ToolSpec[] {
  const offered = new Set(tools.map(({ name }) => name));
  const servers = Object.keys(config().mcp).map(
    (server) => `${serverToolPrefix}${server.replace(/[^a-zA-Z0-9_-]/g, '_')}_`,
  );
  return [...recordedTools(record)]
    .filter((name) => !offered.has(name) && servers.some((prefix) => name.startsWith(prefix)))
    .map((name) => ({
      ...{ name, description: 'A tool of a connected service.', traits: readOnly },
      inputSchema: { type: 'object' },
    }));
}

function faultOf({ status, code, text }: LoopResult): string | undefined {
  if (code === 'MODEL_ERROR') return text;
  return code ?? (status === 'ok' ? undefined : 'the answer was cut at the length limit');
}

function messageOf({ item, at, who }: TurnSample['turns'][number]): Message {
  const { sender, kind, channel, chat, chatType, external } = who;
  return {
    ...{ id: item, conversation: { channel, chat }, chatType, external, text: '', addressed: true },
    ...{ sender: { id: sender, name: sender, kind }, attachments: [], sentAt: at },
  };
}

function itemOf({ item: key, at, transcript: queue }: TurnSample['turns'][number], message: Message) {
  return { key, queue, message, seq: 0, status: 'waiting', tries: 0, acceptedAt: at } as const;
}
