import { spawn } from 'node:child_process';
import { OperatorError } from '../../core/errors.ts';
import { printable } from '../../lib/text/text.ts';
import { hasCode } from '../../lib/has-code.ts';
import { caBundle } from '../../lib/net/ca-bundle.ts';
import { onAbort } from '../../lib/async/on-abort.ts';

export type GitRequest = Readonly<{
  /** The command and its arguments. They come after all options that restrict git. */
  args: readonly string[];
  transport?: string;
  input?: string;
  /** Git is killed if it writes more than this many bytes. */
  outputLimit?: number;
  /** How many bytes any file that git writes may have. */
  fileLimit: number;
  /** Aborting it kills git and its children. */
  signal: AbortSignal;
  progress?: (text: string) => void;
  env: Readonly<Record<string, string | undefined>>;
}>;

type GitOutcome =
  | Readonly<{ status: 'done'; output: Buffer }>
  | Readonly<{ status: 'failed'; /** What git said, made printable. */ message: string }>
  | Readonly<{ status: 'too much output' }>;

const taken =
  /^(?:PATH|HOME|USER|LOGNAME|TMPDIR|SSH_AUTH_SOCK|SSL_CERT_FILE|SSL_CERT_DIR|GIT_SSL_CAINFO|(?:https?|all|no)_proxy|(?:HTTPS|ALL|NO)_PROXY)$/;

/** Options that keep repositories and configuration from starting programs or asking questions (D6). */
const inCheck = Object.entries({
  'core.hooksPath': '/dev/null',
  'core.fsmonitor': 'false',
  'core.untrackedCache': 'false',
  'core.attributesFile': '/dev/null',
  'core.symlinks': 'false',
  'core.askPass': '',
  'core.alternateRefsCommand': '',
  'core.bigFileThreshold': '1m',
  'credential.helper': '',
  'fetch.recurseSubmodules': 'false',
  'submodule.recurse': 'false',
  // This makes git store a single pack file, which the limit on file size then covers.
  'fetch.unpackLimit': '1',
  'transfer.bundleURI': 'false',
  'gc.auto': '0',
  'maintenance.auto': 'false',
  'pack.threads': '1',
  'http.followRedirects': 'false',
  'http.lowSpeedLimit': '500',
  'http.lowSpeedTime': '60',
  'protocol.allow': 'never',
}).flatMap(([key, value]) => ['-c', `${key}=${value}`]);

/** Memory limit of each git process, because a small pack can unfold into a huge one. */
const memoryKb = 4 * 1024 * 1024;

/**
 * Runs git without hooks, filters, submodules, prompts, other transports and foreign configuration, under limits of the
 * kernel (D6). Throws the signal's reason if that aborts, and OperatorError if git is missing.
 */
export async function runGit(request: GitRequest): Promise<GitOutcome> {
  const { args, transport, input = '', outputLimit = 1_000_000, fileLimit, signal, progress, env } = request;
  signal.throwIfAborted();
  const protocol = transport === undefined ? [] : ['-c', `protocol.${transport}.allow=always`];
  // `ulimit -f` counts blocks of 512 bytes. Without SIGXFSZ git itself reports that limit. Not every system can limit
  // memory.
  const limits = `trap '' XFSZ; ulimit -f ${Math.ceil(fileLimit / 512)}; ulimit -v ${memoryKb} 2>/dev/null; exec git "$@"`;
  const child = spawn('/bin/sh', ['-c', limits, 'git', ...inCheck, ...protocol, ...args], {
    env: { ...environment(env), GIT_ALLOW_PROTOCOL: transport ?? '' },
    // A process group of its own makes it possible to kill all of git's children.
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const ended = Promise.withResolvers<number | string>();
  child.once('error', ended.reject);
  child.once('close', (code, by) => ended.resolve(code ?? by ?? 'an unknown end'));
  const end = (): void => {
    if (child.pid === undefined) return;
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch (error) {
      if (!hasCode(error, 'ESRCH')) throw error;
    }
  };
  const stopListening = onAbort(signal, end);
  process.once('exit', end);

  const output: Buffer[] = [];
  let size = 0;
  child.stdout.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > outputLimit) end();
    else output.push(chunk);
  });
  let complaint = '';
  child.stderr.on('data', (chunk: Buffer) => {
    const said = chunk.toString('latin1');
    const step = /(?:Receiving|Resolving|Counting|Compressing) (?:objects|deltas): +\d+%/.exec(said)?.[0];
    if (step !== undefined) progress?.(step.replace(/ +/g, ' ').toLowerCase());
    complaint = (complaint + said).slice(-20_000);
  });
  child.stdin.on('error', () => child.stdin.destroy());
  child.stdin.end(input);
  try {
    const code = await ended.promise;
    signal.throwIfAborted();
    if (size > outputLimit) return { status: 'too much output' };
    if (code === 0) return { status: 'done', output: Buffer.concat(output) };
    if (code === 127) throw new OperatorError('git is not installed: install it (apt install git).');
    return { status: 'failed', message: lastWords(complaint) || `git ended with ${code}` };
  } finally {
    stopListening();
    process.removeListener('exit', end);
    end();
  }
}

function environment(env: GitRequest['env']): Record<string, string> {
  const kept = Object.entries(env).filter(
    (entry): entry is [string, string] => taken.test(entry[0]) && entry[1] !== undefined,
  );
  return {
    ...(env['NODE_EXTRA_CA_CERTS'] ? { GIT_SSL_CAINFO: caBundle() } : {}),
    ...Object.fromEntries(kept),
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: 'false',
    SSH_ASKPASS: 'false',
    GIT_NO_LAZY_FETCH: '1',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_SSH_VARIANT: 'ssh',
    GIT_SSH_COMMAND:
      'ssh -o BatchMode=yes -o ConnectTimeout=20 -o ForwardAgent=no -o ClearAllForwardings=yes -o PermitLocalCommand=no',
  };
}

/** The last lines of git's complaint, without progress and without what the remote wrote. */
function lastWords(complaint: string): string {
  const lines = complaint
    .split(/[\r\n]+/)
    .filter((line) => /^(?:fatal|error|ssh|.*: (?:Permission denied|File too large))/.test(line));
  const said = lines.slice(-4).map((line) => line.replace(/:\/\/[^/@\s]*@/g, '://'));
  return printable(said.join(' · ')).slice(0, 600);
}
