import {
  Client,
  ProtocolError,
  SdkError,
  StreamableHTTPClientTransport,
  type ServerCapabilities,
} from '@modelcontextprotocol/client';
import { z } from 'zod';
import type { Clock } from '../../lib/clock.ts';
import { raceTimeout } from '../../lib/async/deadline.ts';
import { onAbort } from '../../lib/async/on-abort.ts';
import { defined } from '../../lib/json/json-values.ts';
import { serverEnvironment } from '../../lib/processes/server-environment.ts';
import { SignInNeeded } from './accounts/sign-in-needed.ts';
import type { ConnectOnce } from './connect-once.ts';
import { limitedFetch } from './limited-fetch.ts';
import { causeOf, messageOf } from './faults.ts';
import type { McpSettings } from './mcp-settings.ts';
import { processTransport } from './process-transport.ts';
import { wrapLists } from './raw-lists.ts';

type Options = Parameters<ConnectOnce>[1];

/** A client that is connected to a server, with what its connection needs to end well. */
export type OpenClient = Readonly<{
  client: Client;
  /** Whether the server speaks the protocol of 2026-07-28 or a later one. */
  isModern: boolean;
  has: ServerCapabilities;
  /** Resolves with a reason once the connection is lost. */
  closed: Promise<string>;
  /** Ends the connection for this reason. */
  lose(why: string): void;
  /** Asks the server for a sign of life, and ends the connection if none comes. */
  check(): void;
  /** What the server said, redacted and cut. */
  told(text: string): string;
}>;

/** Turns the SDK's time limit off, because callers have their own. */
export const noTimeout = { timeout: 2 ** 31 - 1 };

const anyResult = z.looseObject({});

const lifeMs = 10_000;
/** How long a process may take to answer what only newer servers know, in milliseconds. Then it counts as an older one. */
const probeMs = 10_000;
/** Characters of an error message that are read, and that are passed on. */
const complaintLimit = { read: 20_000, told: 2_000 };

/**
 * Connects a client over stdio or streamable HTTP, in the newest protocol that the server speaks (X9). A process that ends
 * when it is asked for that is started once more, in the older way. Rejects if the handshake fails.
 */
export async function openClient(
  settings: McpSettings,
  options: Options,
  prior?: Readonly<{ kind: 'legacy' }>,
): Promise<OpenClient> {
  const { signal, redact, clock } = options;
  const told = (text: string): string =>
    redact(text.slice(0, complaintLimit.read)).slice(0, complaintLimit.told);
  const { transport, lastWords, hasEnded } = transportOf(settings, options, (why) => lose(why));
  const client = newClient(settings);
  const closed = Promise.withResolvers<string>();
  let lostFor: string | undefined;
  const lose = (why: string): void => {
    lostFor ??= told(why);
    closed.resolve(lostFor);
    void client.close().catch((error: unknown) => closed.resolve(told(messageOf(error))));
  };
  client.onclose = () => {
    const words = lastWords().trim().split('\n').at(-1) ?? '';
    closed.resolve(words === '' ? 'the connection ended' : `it ended, and its last words are: ${words}`);
  };
  // The SDK does not end its first question when it is told to stop.
  const stopListening = onAbort(signal, () => void transport.close().catch(() => undefined));
  try {
    signal.throwIfAborted();
    await client.connect(transport, { signal, ...noTimeout, ...defined({ prior }) });
  } catch (error) {
    const words = lastWords().trim();
    const endedAtProbe =
      prior === undefined &&
      hasEnded() &&
      error instanceof SdkError &&
      !signal.aborted &&
      lostFor === undefined;
    await client.close();
    await transport.close();
    const cause = causeOf(error);
    if (cause instanceof SignInNeeded) throw cause;
    if (endedAtProbe) return await openClient(settings, options, { kind: 'legacy' });
    const why = lostFor ?? told(messageOf(error));
    throw new Error(words === '' ? why : `${why}; it says: ${words.slice(-500)}`, { cause: error });
  } finally {
    stopListening();
  }
  const isModern = client.getProtocolEra() === 'modern';
  const check = createCheck(async () => {
    const problem = await lookFor(client, isModern, clock);
    if (problem !== undefined) lose(`it gives no sign of life: ${problem}`);
  });
  // For an HTTP server, an error is the only sign that it has ended.
  if (settings.url !== undefined) client.onerror = check;
  const has = client.getServerCapabilities() ?? {};
  return { client, isModern, has, closed: closed.promise, lose, check, told };
}

function newClient({ url }: McpSettings): Client {
  const timeoutMs = url === undefined ? probeMs : noTimeout.timeout;
  return new Client(
    { name: 'skillet', version: '1' },
    {
      capabilities: {},
      versionNegotiation: { mode: 'auto', probe: { timeoutMs } },
      inputRequired: { autoFulfill: false },
    },
  );
}

/** Asks for a sign of life. Returns what is wrong if none comes. */
async function lookFor(client: Client, isModern: boolean, clock: Clock): Promise<string | undefined> {
  let problem: string | undefined = `no answer within ${lifeMs / 1_000} s`;
  const method = isModern ? 'server/discover' : 'ping';
  const asked = client.request({ method }, anyResult, noTimeout).then(
    () => (problem = undefined),
    // A refusal shows that the server is alive.
    (error: unknown) => (problem = error instanceof ProtocolError ? undefined : messageOf(error)),
  );
  await raceTimeout(
    clock,
    asked.then(() => undefined),
    lifeMs,
  );
  return problem;
}

/** Makes a function that looks once at a time. */
function createCheck(look: () => Promise<void>): () => void {
  let checking = false;
  return () => {
    if (checking) return;
    checking = true;
    void look().finally(() => (checking = false));
  };
}

function transportOf(
  { command, args, env, url, headers }: McpSettings,
  own: Options,
  onTooMuch: (why: string) => void,
) {
  if (url !== undefined) {
    const limited = limitedFetch(onTooMuch);
    const transport = new StreamableHTTPClientTransport(new URL(url), {
      requestInit: { headers: { ...headers } },
      fetch: own.signed?.(limited) ?? limited,
    });
    wrapLists(transport);
    return { transport, lastWords: () => '', hasEnded: () => false };
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
  wrapLists(transport);
  return { transport, lastWords: transport.lastWords, hasEnded: transport.hasEnded };
}
