import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import {
  StreamableHTTPClientTransport,
  StreamableHTTPError,
} from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  McpError,
  PromptListChangedNotificationSchema,
  ToolListChangedNotificationSchema,
  type Progress,
} from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import type { Clock } from '../../lib/clock.ts';
import { isShallow } from '../../lib/json/json-values.ts';
import { redactDeep } from '../../lib/redaction/redact.ts';
import { raceTimeout } from '../../lib/async/deadline.ts';
import type { EndWithUs } from '../../lib/processes/end-with-us.ts';
import { SignInNeeded } from './accounts/sign-in-needed.ts';
import { limitedFetch } from './limited-fetch.ts';
import { mostTools, type McpSettings } from './mcp-settings.ts';
import { serverEnvironment } from '../../lib/processes/server-environment.ts';
import { processTransport } from './process-transport.ts';
import { callOther, isReserved, listOthers, type ReadPages } from './prompts-and-resources.ts';
import { nestingLimit, tooDeep } from './read-definition.ts';

/**
 * How a call ended. `result` is not redacted. `unreached` can be retried. After `lost`, nobody knows whether the call
 * had an effect.
 */
export type Called =
  | Readonly<{ kind: 'answered'; result: unknown }>
  | Readonly<{ kind: 'refused' | 'unreached' | 'lost'; message: string }>;

export type McpConnection = Readonly<{
  /** Lists the server's tools, page by page, as it sent them, and its prompts and resources as tools (X9). */
  list(signal: AbortSignal): Promise<readonly unknown[]>;
  /**
   * Calls a tool. Rejects if `signal` aborts, and then tells the server, and with SignInNeeded if the server wants a
   * sign-in; then nothing was done.
   */
  call(
    tool: string,
    input: Readonly<Record<string, unknown>>,
    options: Readonly<{ signal: AbortSignal; onProgress(text: string): void }>,
  ): Promise<Called>;
  /** Pings the server, and closes the connection if no answer comes. */
  check(): void;
  /** Resolves with a reason once the connection is lost. */
  closed: Promise<string>;
  close(): Promise<void>;
}>;

/** `fetch` as the SDK's transport calls it. */
export type ServerFetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

export type ConnectOnce = (
  settings: McpSettings,
  options: Readonly<{
    env: Readonly<Record<string, string | undefined>>;
    cwd: string;
    signal: AbortSignal;
    /** Redacts text before anything of it is cut (S2). */
    redact(text: string): string;
    onListChanged(): void;
    /** Adds the sign-in of a person to requests (X8). Undefined: the headers of the config are all. */
    signed?(fetch: ServerFetch): ServerFetch;
    endWithUs: EndWithUs;
    clock: Clock;
  }>,
) => Promise<McpConnection>;

type ListMethod = Parameters<ReadPages>[0] | 'tools/list';

const mostPages = 50;
const pingMs = 10_000;
/** Characters of an error message that are read, and that are passed on. */
const complaintLimit = { read: 20_000, told: 2_000 };
/** Turns the SDK's time limit off, because callers have their own. */
const noTimeout = { timeout: 2 ** 31 - 1 };

const anyResult = z.looseObject({});
const anyPage = z.looseObject({ nextCursor: z.string().optional() });

/**
 * Connects over stdio or streamable HTTP (X7), without offering sampling, elicitation or roots. Rejects if the
 * handshake fails.
 */
export const connectOnce: ConnectOnce = async (settings, options) => {
  const { signal, redact, onListChanged, clock } = options;
  const { transport, lastWords } = transportOf(settings, options, (why) => lose(why));
  const client = new Client({ name: 'skillet', version: '1' }, { capabilities: {} });
  const closed = Promise.withResolvers<string>();
  let checking = false;
  let lostFor: string | undefined;
  // The SDK reports a closed connection as code -32000, which servers use for other things, too.
  let ended = false;
  const isRefusal = (error: unknown): error is McpError => !ended && error instanceof McpError;
  const told = (text: string): string =>
    redact(text.slice(0, complaintLimit.read)).slice(0, complaintLimit.told);
  const lose = (why: string): void => {
    lostFor ??= told(why);
    closed.resolve(lostFor);
    void client.close().catch((error: unknown) => closed.resolve(told(messageOf(error))));
  };
  client.onclose = () => {
    ended = true;
    const words = lastWords().trim().split('\n').at(-1) ?? '';
    closed.resolve(words === '' ? 'the connection ended' : `it ended, and its last words are: ${words}`);
  };
  client.setNotificationHandler(ToolListChangedNotificationSchema, onListChanged);
  client.setNotificationHandler(PromptListChangedNotificationSchema, onListChanged);
  try {
    await client.connect(transport, { signal, ...noTimeout });
  } catch (error) {
    const words = lastWords().trim();
    await client.close();
    if (error instanceof SignInNeeded) throw error;
    const why = lostFor ?? told(messageOf(error));
    throw new Error(words === '' ? why : `${why}; it says: ${words.slice(-500)}`, { cause: error });
  }
  async function seek(): Promise<void> {
    let problem: string | undefined = `no answer within ${pingMs / 1_000} s`;
    const asked = client.ping(noTimeout).then(
      () => (problem = undefined),
      // A refusal shows that the server is alive.
      (error: unknown) => (problem = isRefusal(error) ? undefined : messageOf(error)),
    );
    await raceTimeout(
      clock,
      asked.then(() => undefined),
      pingMs,
    );
    if (problem !== undefined) lose(`it gives no sign of life: ${problem}`);
  }
  const check = (): void => {
    if (checking) return;
    checking = true;
    void seek().finally(() => (checking = false));
  };
  async function pages(method: ListMethod, key: string, until: AbortSignal): Promise<readonly unknown[]> {
    const found: unknown[] = [];
    let cursor: string | undefined;
    for (let count = 0; count < mostPages && found.length <= mostTools; count++) {
      const params = cursor === undefined ? {} : { cursor };
      const read = await client.request({ method, params }, anyPage, { signal: until, ...noTimeout });
      const { [key]: listed = [] } = z.object({ [key]: z.array(z.unknown()) }).parse(read);
      found.push(...listed.slice(0, mostTools + 1));
      cursor = read.nextCursor;
      if (cursor === undefined) break;
    }
    return found;
  }
  /** Servers may say that they have such a list and refuse it. Their tools are used all the same. */
  const optionalPages = (...of: Parameters<typeof pages>): Promise<readonly unknown[]> =>
    pages(...of).catch((error: unknown) => {
      if (isRefusal(error) || error instanceof z.ZodError) return [];
      throw error;
    });
  // For an HTTP server, an error is the only sign that it has ended.
  if (settings.url !== undefined) client.onerror = check;

  return {
    check,
    closed: closed.promise,
    close: () => client.close(),
    async list(until) {
      const has = client.getServerCapabilities() ?? {};
      const tools = has.tools === undefined ? [] : await pages('tools/list', 'tools', until);
      const own = tools.map((tool) => (isReserved(nameOf(tool)) ? { name: nameOf(tool) } : tool));
      const others = await listOthers(has, (...of) => optionalPages(...of, until));
      return [...own, ...others].map((one) => withoutSecrets(one, redact));
    },
    async call(tool, input, { signal: until, onProgress }) {
      try {
        const options = {
          signal: until,
          ...noTimeout,
          onprogress: ({ progress, total, message }: Progress) =>
            onProgress(redact(message ?? (total === undefined ? `${progress}` : `${progress} of ${total}`))),
        };
        const result = isReserved(tool)
          ? await callOther(tool, input, {
              ask: (request) => client.request(request, anyResult, options),
              read: (...of) => optionalPages(...of, until),
            })
          : await client.request(
              { method: 'tools/call', params: { name: tool, arguments: { ...input } } },
              anyResult,
              options,
            );
        return { kind: 'answered', result };
      } catch (error) {
        if (until.aborted || error instanceof SignInNeeded) throw error;
        const fault: Exclude<Called, { kind: 'answered' }> = isRefusal(error)
          ? { kind: 'refused', message: messageOf(error) }
          : faultOf(error, lose);
        return { ...fault, message: told(fault.message) };
      }
    },
  };
};

function transportOf(
  { command, args, env, url, headers }: McpSettings,
  own: Parameters<ConnectOnce>[1],
  onTooMuch: (why: string) => void,
) {
  if (url !== undefined) {
    const limited = limitedFetch(onTooMuch);
    const transport = new StreamableHTTPClientTransport(new URL(url), {
      requestInit: { headers: { ...headers } },
      fetch: own.signed?.(limited) ?? limited,
    });
    return { transport, lastWords: () => '' };
  }
  const { cwd, redact, endWithUs } = own;
  const given = serverEnvironment(own.env, env);
  const transport = processTransport({
    command: command ?? '',
    args,
    env: given,
    cwd,
    redact,
    onTooMuch,
    endWithUs,
  });
  return { transport, lastWords: transport.lastWords };
}

function nameOf(tool: unknown): unknown {
  return (Object(tool) as { name?: unknown }).name;
}

/** Redacts a tool's definition. One that is nested too deep is emptied here, and `readDefinition` refuses it later. */
function withoutSecrets(tool: unknown, redact: (text: string) => string): unknown {
  if (isShallow(tool, nestingLimit)) return redactDeep(tool, redact);
  const name = nameOf(tool);
  return { name: typeof name === 'string' ? redact(name) : '', inputSchema: tooDeep };
}

function faultOf(error: unknown, lose: (why: string) => void): Exclude<Called, { kind: 'answered' }> {
  const message = messageOf(error);
  if (error instanceof McpError) return { kind: 'lost', message };
  lose(message);
  const turnedAway = error instanceof StreamableHTTPError && isTurnedAway(error.code);
  return { kind: turnedAway || isUnreached(error) ? 'unreached' : 'lost', message };
}

/** Whether the server turned the call away without doing it, as it does for a session that it no longer knows. */
function isTurnedAway(status: number | undefined): boolean {
  return status !== undefined && status >= 400 && status < 500;
}

function isUnreached(error: unknown): boolean {
  const code: unknown = error instanceof Error ? Reflect.get(Object(error.cause), 'code') : undefined;
  return code === 'ECONNREFUSED' || code === 'ENOTFOUND' || code === 'EAI_AGAIN';
}

function messageOf(error: unknown): string {
  // The body of such an answer says nothing more.
  if (error instanceof StreamableHTTPError && (error.code === 401 || error.code === 403))
    return `it refuses the sign-in (HTTP ${error.code}): set its token in headers of this server`;
  const message = error instanceof Error ? error.message : String(error);
  const cause: unknown = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && cause.message !== '' ? `${message} (${cause.message})` : message;
}
