import { spawn } from 'node:child_process';
import { OperatorError } from '../../core/errors.ts';
import { printable } from '../../lib/text/text.ts';

/** One git command to run. */
export type GitRequest = Readonly<{
  /** The command and its arguments, after everything that keeps git in check. */
  args: readonly string[];
  /** The one transport that it may use. */
  transport?: string;
  input?: string;
  /** Bytes of standard output; git is ended when it writes more. */
  outputLimit?: number;
  /** Bytes of any one file that it writes. */
  fileLimit: number;
  /** Ends git and all that it started. */
  signal: AbortSignal;
  /** Told how far it is. */
  progress?: (text: string) => void;
  /** The environment that what git needs is taken from. */
  env: Readonly<Record<string, string | undefined>>;
}>;

export type GitOutcome =
  | Readonly<{ status: 'done'; output: Buffer }>
  | Readonly<{ status: 'failed'; /** Printable. */ message: string }>
  | Readonly<{ status: 'too much output' }>;

/** What of the surroundings git and ssh need: where programs, home, keys, proxies and certificates are. */
const taken =
  /^(?:PATH|HOME|USER|LOGNAME|TMPDIR|SSH_AUTH_SOCK|SSL_CERT_FILE|SSL_CERT_DIR|(?:https?|all|no)_proxy|(?:HTTPS|ALL|NO)_PROXY)$/;

/** Nothing that a repository, a user's or a system's configuration could have git start or ask (D6). */
const inCheck = Object.entries({
  'core.hooksPath': '/dev/null',
  'core.fsmonitor': 'false',
  'core.untrackedCache': 'false',
  'core.attributesFile': '/dev/null',
  'core.symlinks': 'false',
  'core.askPass': '',
  'core.alternateRefsCommand': '',
  // A blob beyond this is streamed, not held in memory.
  'core.bigFileThreshold': '1m',
  'credential.helper': '',
  'fetch.recurseSubmodules': 'false',
  'submodule.recurse': 'false',
  // One pack is one file, which the limit on a file's size holds.
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

/** Memory of each of git's processes, in KB: a small pack can unfold into a huge one. */
const memoryKb = 4 * 1024 * 1024;

/**
 * Runs git as processes of its own, with hooks, filters, submodules, prompts, other transports and all configuration but
 * ours off, under limits of the kernel (D6). Whatever comes of it is a value; throws where the signal ended it (its
 * reason), or OperatorError where there is no git.
 */
export async function runGit(request: GitRequest): Promise<GitOutcome> {
  const { args, transport, input = '', outputLimit = 1_000_000, fileLimit, signal, progress, env } = request;
  signal.throwIfAborted();
  const protocol = transport === undefined ? [] : ['-c', `protocol.${transport}.allow=always`];
  // The file size is counted in blocks of 512 bytes, and git says when it meets it where the signal is off; not every
  // system limits memory.
  const limits = `trap '' XFSZ; ulimit -f ${Math.ceil(fileLimit / 512)}; ulimit -v ${memoryKb} 2>/dev/null; exec git "$@"`;
  const child = spawn('/bin/sh', ['-c', limits, 'git', ...inCheck, ...protocol, ...args], {
    env: { ...environment(env), GIT_ALLOW_PROTOCOL: transport ?? '' },
    // A group of its own, so that all that git starts can be ended with it.
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
      // Gone already.
      if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
    }
  };
  signal.addEventListener('abort', end, { once: true });
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
  // It may end before it has read everything: how it ended says enough.
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
    signal.removeEventListener('abort', end);
    process.removeListener('exit', end);
    end();
  }
}

function environment(env: GitRequest['env']): Record<string, string> {
  const kept = Object.entries(env).filter(
    (entry): entry is [string, string] => taken.test(entry[0]) && entry[1] !== undefined,
  );
  return {
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

/** What git itself says went wrong, without its progress and what the other side wrote. */
function lastWords(complaint: string): string {
  const lines = complaint
    .split(/[\r\n]+/)
    .filter((line) => /^(?:fatal|error|ssh|.*: (?:Permission denied|File too large))/.test(line));
  const said = lines.slice(-4).map((line) => line.replace(/:\/\/[^/@\s]*@/g, '://'));
  return printable(said.join(' · ')).slice(0, 600);
}
