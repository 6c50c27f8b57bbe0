import { parseJson } from '../lib/json/json-values.ts';
import type { Log } from '../lib/log.ts';

/** Where spoken words are written down: `[tools.transcribe]`. */
export type TranscribeSettings = Readonly<{
  baseUrl: string;
  apiKey?: string | undefined;
  model: string;
  language?: string | undefined;
}>;

/** What was said in an audio file, or why that is not known: `problem` is for the model, without a full stop. */
export type Transcript = Readonly<{ text: string } | { problem: string }>;

export type Transcribe = (
  file: Readonly<{ bytes: Uint8Array; name: string; mime: string }>,
  settings: TranscribeSettings,
  signal: AbortSignal,
) => Promise<Transcript>;

const longestMs = 60_000;
/** Bytes of an answer. */
const longestAnswer = 1_000_000;

/**
 * Has a server with an OpenAI-compatible `/audio/transcriptions` write down what is said (M12). The operator named it, so
 * it may be on this machine; no redirect is followed, for the key and the voice are meant for it alone.
 */
export function createTranscribe(log: Log): Transcribe {
  return async ({ bytes, name, mime }, { baseUrl, apiKey, model, language }, signal) => {
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
      if (text === '') return { problem: 'no words were heard in it' };
      return text === undefined ? { problem: whyNot(status) } : { text };
    } catch (error) {
      signal.throwIfAborted();
      log.warn({ err: error, host: url.host }, 'audio could not be transcribed');
      return {
        problem: timeout.aborted ? `${server} took longer than a minute` : `${server} can not be reached`,
      };
    }
  };
}

const server = 'the server that turns speech into text';

/** Nothing where it is longer than any transcript. */
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
