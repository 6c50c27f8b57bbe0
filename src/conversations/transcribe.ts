import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { programEnvironment, runProgram } from '../lib/processes/run-program.ts';
import { safeName } from '../lib/files/safe-name.ts';
import { parseJson } from '../lib/json/json-values.ts';
import type { Log } from '../lib/log.ts';
import { createEndWithUs } from '../lib/processes/end-with-us.ts';

export type TranscribeSettings = Readonly<{
  baseUrl?: string | undefined;
  /** Program and arguments; `{file}` stands for the audio file's path. Undefined: a server does it. */
  command?: readonly string[] | undefined;
  apiKey?: string | undefined;
  model: string;
  language?: string | undefined;
}>;

/** `problem` says to the model why there is no text, without a full stop. */
type Transcript = Readonly<{ text: string } | { problem: string }>;

export type Transcribe = (
  file: Readonly<{ bytes: Uint8Array; name: string; mime: string }>,
  settings: TranscribeSettings,
  signal: AbortSignal,
) => Promise<Transcript>;

const longestMs = 60_000;
const longestAnswer = 1_000_000;

type Program = Parameters<Transcribe>[0] & Readonly<{ command: readonly string[] }>;

export function createTranscribe(options: {
  env: Readonly<Record<string, string | undefined>>;
  log: Log;
}): Transcribe {
  const { log } = options;
  const byProgram = createByProgram(options);
  const byServer = createByServer(log);
  return (file, settings, signal) =>
    settings.command === undefined
      ? byServer(file, settings, signal)
      : byProgram({ ...file, command: settings.command }, signal);
}

/** Starts one process for each file, without shell and without secrets. Only exit code 0 counts. */
function createByProgram({ env, log }: Parameters<typeof createTranscribe>[0]) {
  const endWithUs = createEndWithUs(log);
  return async ({ bytes, name, command }: Program, signal: AbortSignal): Promise<Transcript> => {
    const folder = await mkdtemp(path.join(tmpdir(), 'skillet-audio-'));
    try {
      const file = path.join(folder, safeName(name));
      await writeFile(file, bytes, { mode: 0o600 });
      const filled = command.map((part) => part.replaceAll('{file}', () => file));
      const done = await runProgram({
        command: command.some((part) => part.includes('{file}')) ? filled : [...command, file],
        input: '',
        timeoutMs: longestMs,
        env: programEnvironment(env),
        signal,
        endWithUs,
      });
      if (done.ended === 'exit' && done.code === 0) {
        const text = done.output.toString().trim();
        return text === '' ? { problem: silent } : { text };
      }
      const { ended, complaint } = done;
      log.warn({ program: command[0], ended, complaint }, 'could not transcribe audio');
      return { problem: programProblems[ended] };
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  };
}

const silent = 'no words were heard in it';
const program = 'the program that turns speech into text';
const programProblems = {
  exit: `${program} failed`,
  signal: `${program} was ended`,
  absent: `${program} could not be started`,
  timeout: `${program} took longer than a minute`,
  held: `${program} left another program running`,
  'too much': `${program} printed too much`,
} as const;

/**
 * Sends the audio to an OpenAI-compatible `/audio/transcriptions` (M12). Local addresses are allowed. Redirects are
 * refused, so that key and voice go nowhere else.
 */
function createByServer(log: Log): Transcribe {
  return async ({ bytes, name, mime }, { baseUrl = '', apiKey, model, language }, signal) => {
    const url = new URL(`${baseUrl.replace(/\/+$/, '')}/audio/transcriptions`);
    const form = new FormData();
    form.set('model', model);
    form.set('response_format', 'json');
    if (language !== undefined) form.set('language', language);
    form.set('file', new Blob([Uint8Array.from(bytes)], { type: mime }), name);
    const began = performance.now();
    const timeout = AbortSignal.timeout(longestMs);
    try {
      const response = await fetch(url, {
        method: 'POST',
        body: form,
        headers: apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` },
        redirect: 'manual',
        signal: AbortSignal.any([signal, timeout]),
      });
      const body = await bodyOf(response);
      const { status } = response;
      log.info(
        { host: url.host, model, bytes: bytes.length, status, ms: Math.round(performance.now() - began) },
        'audio was sent to be transcribed',
      );
      const text = status === 200 ? textIn(body) : undefined;
      if (text === '') return { problem: silent };
      return text === undefined ? { problem: whyNot(status) } : { text };
    } catch (error) {
      signal.throwIfAborted();
      log.warn({ err: error, host: url.host }, 'could not transcribe audio');
      return {
        problem: timeout.aborted ? `${server} took longer than a minute` : `${server} can not be reached`,
      };
    }
  };
}

const server = 'the server that turns speech into text';

async function bodyOf({ body }: Response): Promise<string | undefined> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  const arriving: AsyncIterable<Uint8Array> | readonly [] = body ?? [];
  for await (const piece of arriving) {
    size += piece.length;
    if (size > longestAnswer) return undefined;
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString();
}

function textIn(body: string | undefined): string | undefined {
  const answer: unknown = body === undefined ? undefined : parseJson(body);
  if (typeof answer !== 'object' || answer === null || !('text' in answer)) return undefined;
  return typeof answer.text === 'string' ? answer.text.trim() : undefined;
}

function whyNot(status: number): string {
  if (status === 401 || status === 403)
    return `${server} refuses the key of this bot: its operator can set [tools.transcribe] api_key`;
  if (status === 413) return `it is too large for ${server}`;
  if (status === 429) return `${server} takes no more for now`;
  return `${server} answered with status ${status} and no text`;
}
