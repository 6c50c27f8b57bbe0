import { accessSync, constants, statSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Config } from '../config/complete-config.ts';
import { envFileOf } from '../config/load-config.ts';
import { installLine, isReachable, missingPackage } from '../agent/models/model-place.ts';
import { isBuiltInAlias } from '../config/model-aliases.ts';
import { formatKeyPath, type KeyPath } from '../config/section.ts';
import { placeInFile } from '../config/config-problem.ts';
import { literalSecrets } from '../config/secrets-of-config.ts';
import { isServed } from '../channels/terminal/control.ts';
import type { Diagnostic } from '../core/codes.ts';
import { OperatorError } from '../core/errors.ts';
import type { Log } from '../lib/log.ts';
import { findProgram } from '../sandbox/inside-sandbox.ts';
import { tryFolders } from '../store/make-folders.ts';
import { serverEnvironment } from '../lib/processes/server-environment.ts';
import { changeableByOthers } from '../lib/files/changeable-by-others.js';
import { hostAndPort, whyNotListening } from '../lib/text/text.ts';
import { placeOfBundle } from '../skills/install/bundle-place.ts';
import { skillRoots } from '../skills/open-library.ts';
import type { ConfigFinding } from '../features/kit.ts';
import { featureChecks } from '../features/list.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** The codes of checks before a start (G2). */
export type StartCode =
  | 'TOKEN_FORM'
  | 'TOKENS_SWAPPED'
  | 'SECRETS_READABLE'
  | 'CHANGEABLE_BY_OTHERS'
  | 'MODEL_WITHOUT_KEY'
  | 'MODEL_PACKAGE'
  | 'PROGRAM_MISSING'
  | 'WORKSPACE_UNUSABLE'
  | 'TEMPORARY_UNUSABLE'
  | 'PORT_UNUSABLE';

type Finding = Readonly<{
  level: 'error' | 'warning';
  code: StartCode;
  key?: KeyPath;
  /** Path of the file that it is about, if that is not the config. */
  place?: string;
  message: string;
}>;

/** Returns what `start` refuses or warns about (G2). */
export async function startChecks(config: Config): Promise<readonly Diagnostic[]> {
  return checkStart(config, { env: process.env, isRunning: await isServed(config.bot.dataDir) });
}

/** Logs warnings. If there are errors, throws one OperatorError with all of them. */
export async function passStartChecks(config: Config, log: Log): Promise<void> {
  const found = await startChecks(config);
  const errors = found.filter(({ level }) => level === 'error');
  if (errors.length > 0) throw new OperatorError(errors.map(diagnosticLine).join('\n'));
  for (const { message, code, line } of found) log.warn({ code, line }, message);
}

/** A finding as one line, such as `config.toml:4: warning SKILL_UNKNOWN: …`. */
export function diagnosticLine({ level, code, message, path, line }: Diagnostic): string {
  const place = path === undefined || line === undefined ? '' : `${path}:${line}: `;
  return `${place}${level} ${code}: ${message}`;
}

/** Makes all checks. `isRunning`: the bot on this machine may hold the ports. */
async function checkStart(
  config: Config,
  { env, isRunning }: Readonly<{ env: Env; isRunning: boolean }>,
): Promise<readonly Diagnostic[]> {
  const findings: readonly (Omit<Finding, 'code'> & Pick<ConfigFinding, 'code'>)[] = [
    ...checkTokens(config),
    ...checkFiles(config),
    ...checkWriters(config),
    ...checkModels(config),
    ...checkPrograms(config, env),
    ...checkWorkspace(config),
    ...checkTemporary(),
    ...featureChecks(config),
    ...(isRunning ? [] : await checkPorts(config)),
  ];
  if (findings.length === 0) return [];
  const placeOf = placeInFile(config.path);
  return findings.map(({ key, place = config.path, ...finding }) => {
    const line = key === undefined ? undefined : placeOf(key)?.line;
    return {
      ...finding,
      field: key === undefined ? undefined : formatKeyPath(key),
      path: place,
      line,
    };
  });
}

function checkTokens({ telegram, slack }: Config): readonly Finding[] {
  const form = (key: KeyPath, looks: string, from: string): Finding => ({
    level: 'warning',
    code: 'TOKEN_FORM',
    key,
    message: `${formatKeyPath(key)} doesn't look like a token of this kind (${looks}). Copy it again from ${from}`,
  });
  const { token } = telegram;
  const { botToken, appToken } = slack;
  const bot = ['slack', 'bot_token'];
  const app = ['slack', 'app_token'];
  if (botToken?.startsWith('xapp-') === true && appToken?.startsWith('xoxb-') === true)
    return [
      {
        level: 'error',
        code: 'TOKENS_SWAPPED',
        key: bot,
        message: 'slack.bot_token and slack.app_token: these two are swapped: xoxb-… is the bot token',
      },
    ];
  return [
    ...(token === undefined || /^\d+:[\w-]{30,}$/.test(token)
      ? []
      : [form(['telegram', 'token'], '123456:ABC…', '@BotFather (/mybots, API Token)')]),
    ...(botToken === undefined || /^(xoxe\.)?xoxb-/.test(botToken)
      ? []
      : [form(bot, 'xoxb-…', 'api.slack.com/apps, OAuth & Permissions')]),
    ...(appToken === undefined || appToken.startsWith('xapp-')
      ? []
      : [form(app, 'xapp-…', 'api.slack.com/apps, Basic Information, App-Level Tokens')]),
  ];
}

/** Checks who can read the config, if it has secrets in it, and `.env` beside it. */
function checkFiles(config: Config): readonly Finding[] {
  const { path: file } = config;
  if (file === undefined) return [];
  const holding = [...(literalSecrets(config).length === 0 ? [] : [file]), envFileOf(file)];
  return holding.filter(isReadableByOthers).map((place) => ({
    level: 'warning',
    code: 'SECRETS_READABLE',
    place,
    message: `other users of this machine may read the secrets in this file: chmod 600 ${place}`,
  }));
}

/** Whether other users can read a file. If another user owns it, access by the group is intended. */
function isReadableByOthers(file: string): boolean {
  const us = process.getuid?.();
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats === undefined || us === undefined) return false;
  return (stats.mode & (stats.uid === us ? 0o044 : 0o004)) !== 0;
}

function checkWriters(config: Config): readonly Finding[] {
  const us = process.getuid?.();
  // Anybody who can change bundled skills can also change the bot itself, so those are not looked at.
  const folders = skillRoots({ ...config, skills: { ...config.skills, bundled: false } }, []).flatMap(
    (root) => ('path' in root ? [root.path] : []),
  );
  const files = config.path === undefined ? [] : [config.path, envFileOf(config.path)];
  return [...files, ...folders].flatMap((place) => {
    const owner = statSync(place, { throwIfNoEntry: false })?.uid;
    const problem = owner === us || owner === 0 ? changeableByOthers(place) : undefined;
    if (problem === undefined) return [];
    const message = `others could change ${place}: ${problem}`;
    return [{ level: 'warning', code: 'CHANGEABLE_BY_OTHERS', place, message }];
  });
}

function checkModels({ models, agent }: Config): readonly Finding[] {
  const { aliases, fallback = [] } = models;
  const isOut = (name: string): boolean => aliases[name] !== undefined && !isReachable(aliases[name]);
  const names = isOut('default')
    ? ['default']
    : Object.keys(aliases).filter((name) => isOut(name) && !isBuiltInAlias(name));
  const keyless = names.map((name): Finding => {
    const variable = aliases[name]?.api === 'openai' ? 'OPENAI_API_KEY' : 'ANTHROPIC_API_KEY';
    const message = `models.${name} has no api_key and no base_url, so it can't answer: set ${variable}, or write api_key, or the base_url of a server that needs none`;
    return { level: 'warning', code: 'MODEL_WITHOUT_KEY', key: ['models', name], message };
  });
  const lacking = Object.entries(aliases).flatMap(([name, { api = 'anthropic' }]): readonly Finding[] => {
    const wanted = missingPackage(api);
    if (wanted === undefined) return [];
    const message = `models.${name} has api = "${api}", which needs the package ${wanted}: ${installLine(wanted)}`;
    return [{ level: 'error', code: 'MODEL_PACKAGE', key: ['models', name, 'api'], message }];
  });
  const named: readonly (readonly [KeyPath, string | undefined])[] = [
    ...fallback.map((name): readonly [KeyPath, string] => [['models', 'fallback'], name]),
    [['agent', 'model'], agent.model],
  ];
  // Beside a default of another kind, Claude's built-in aliases exist only with their key.
  const away = named.flatMap(([key, name]): readonly Finding[] => {
    if (name === undefined || !isBuiltInAlias(name) || aliases[name] !== undefined) return [];
    const message = `${formatKeyPath(key)} names ${name}, a Claude, which needs ANTHROPIC_API_KEY beside a default of another kind: set it, or name another alias`;
    return [{ level: 'warning', code: 'MODEL_WITHOUT_KEY', key, message }];
  });
  return [...keyless, ...lacking, ...away];
}

function checkPrograms({ mcp, bot, path: file }: Config, env: Env): readonly Finding[] {
  const cwd = file === undefined ? process.cwd() : path.dirname(file);
  return Object.entries(mcp).flatMap(([name, { command: written, bundle, env: given }]) => {
    if (written === undefined) return [];
    const place = bundle === undefined ? undefined : placeOfBundle(path.resolve(bot.dataDir), bundle);
    // What is wrong with a bundle is a finding of its own.
    if (place?.ok === false) return [];
    const command = written.replace('${PLUGIN_ROOT}', place?.root ?? '');
    const folders = serverEnvironment(env, given)['PATH'] ?? '/usr/local/bin:/usr/bin:/bin';
    const at = path.resolve(cwd, command);
    const found = command.includes('/')
      ? findProgram(path.basename(at), path.dirname(at))
      : findProgram(command, folders);
    if (found !== undefined) return [];
    const message = `mcp.${name} starts a program that is not ${command.includes('/') ? 'there' : 'on PATH'} (${command}): install it, or write its whole path`;
    return [{ level: 'warning', code: 'PROGRAM_MISSING', key: ['mcp', name, 'command'], message }];
  });
}

function checkWorkspace({ bot: { workspace } }: Config): readonly Finding[] {
  try {
    tryFolders(workspace);
    return [];
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const message = `${workspace} can't be used as the workspace: ${why}. Fix that or write another path`;
    return [{ level: 'error', code: 'WORKSPACE_UNUSABLE', key: ['bot', 'workspace'], message }];
  }
}

/** Checks the folder for temporary files, where sockets and scratch folders of commands are. */
function checkTemporary(): readonly Finding[] {
  const folder = tmpdir();
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    if (statSync(folder).isDirectory()) return [];
  } catch {
    // Whatever the error is, the message below says what to do.
  }
  const message = `${folder} is not a writable folder, and the bot needs it for temporary files: create it, or set TMPDIR`;
  return [{ level: 'error', code: 'TEMPORARY_UNUSABLE', message }];
}

async function checkPorts({ telegram, slack, server }: Config): Promise<readonly Finding[]> {
  const listens: readonly (readonly [string, string | undefined])[] = [
    ['telegram', telegram.token !== undefined && telegram.mode === 'webhook' ? telegram.listen : undefined],
    ['slack', slack.botToken !== undefined && slack.mode === 'http' ? slack.listen : undefined],
    ['server', server.listen],
  ];
  const findings: Finding[] = [];
  const held: Server[] = [];
  for (const [section, listen] of listens) {
    if (listen === undefined) continue;
    const taken = await take(listen);
    if ('held' in taken) held.push(taken.held);
    else
      findings.push({
        level: 'error',
        code: 'PORT_UNUSABLE',
        key: [section, 'listen'],
        message: `${section}.listen is ${listen}: ${taken.why}. Write a free address, such as listen = "127.0.0.1:9464"`,
      });
  }
  await Promise.all(held.map((one) => new Promise((resolve) => one.close(resolve))));
  return findings;
}

function take(listen: string): Promise<Readonly<{ held: Server } | { why: string }>> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', (error) => resolve({ why: whyNotListening(error) }));
    server.listen(hostAndPort(listen), () => resolve({ held: server }));
  });
}
