import { CLIENT_CAPABILITIES_META_KEY, ProtocolError, type Progress } from '@modelcontextprotocol/client';
import { z } from 'zod';
import type { Clock } from '../../lib/clock.ts';
import { defined, isShallow } from '../../lib/json/json-values.ts';
import { redactDeep } from '../../lib/redaction/redact.ts';
import type { EndWithUs } from '../../lib/processes/end-with-us.ts';
import { SignInNeeded } from './accounts/sign-in-needed.ts';
import { callFault, isMalformed, messageOf, type Fault } from './faults.ts';
import { followChanges } from './follow-changes.ts';
import { completed, InputNeeded, type InputAnswers } from './input-needed.ts';
import { mostTools, type McpSettings } from './mcp-settings.ts';
import { noTimeout, openClient, type OpenClient } from './open-client.ts';
import { headersOfCall, readParamHeaders, type ParamHeaders } from './param-headers.ts';
import { callOther, isReserved, listOthers, type ReadPages } from './prompts-and-resources.ts';
import { unwrapped } from './raw-lists.ts';
import { nestingLimit, tooDeep } from './read-definition.ts';

/**
 * How a call ended. `result` is not redacted. `unreached` can be retried. After `lost`, nobody knows whether the call
 * had an effect.
 */
export type Called = Readonly<{ kind: 'answered'; result: unknown }> | Fault;

export type McpConnection = Readonly<{
  /** Lists the server's tools, page by page, as it sent them, and its prompts and resources as tools (X9). */
  list(signal: AbortSignal): Promise<readonly unknown[]>;
  /**
   * Calls a tool. Rejects if `signal` aborts, and then tells the server; with SignInNeeded if the server wants a sign-in,
   * and then nothing was done; and with InputNeeded if it wants to know something first, which `answers` then has.
   */
  call(
    tool: string,
    input: Readonly<Record<string, unknown>>,
    options: Readonly<{
      signal: AbortSignal;
      answers?: InputAnswers | undefined;
      onProgress(text: string): void;
    }>,
  ): Promise<Called>;
  /** Asks the server for a sign of life, and closes the connection if no answer comes. */
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
    /** Called when the list may be another one: the server said so, or it is older than the server says it lasts. */
    onListChanged(): void;
    /** Adds the sign-in of a person to requests (X8). Undefined: the headers of the config are all. */
    signed?(fetch: ServerFetch): ServerFetch;
    endWithUs: EndWithUs;
    clock: Clock;
  }>,
) => Promise<McpConnection>;

const mostPages = 50;
/**
 * How long a list lasts, in milliseconds, whatever its server says. No list is read again sooner than `least` for its age
 * alone, and none is kept for longer than `most`.
 */
const lastsMs = { least: 60_000, most: 24 * 3_600_000 };

const anyResult = z.looseObject({});
const anyPage = z.looseObject({
  nextCursor: z.string().optional(),
  ttlMs: z.number().optional().catch(undefined),
});

/**
 * Connects over stdio or streamable HTTP (X7, X9), without offering sampling or roots. Rejects if the handshake fails.
 */
export const connectOnce: ConnectOnce = async (settings, options) => {
  const { redact, onListChanged, clock } = options;
  const open = await openClient(settings, options);
  const { client, has, isModern, told } = open;
  const lists = createLists(open, options);
  await followChanges(
    open,
    (kind) => (kind === 'resources' ? lists.forgetResources() : onListChanged()),
    clock,
  );
  const headers = createHeaders(isModern && settings.url !== undefined);

  return {
    check: open.check,
    closed: open.closed,
    close: () => client.close(),
    async list(until) {
      const tools = has.tools === undefined ? [] : await lists.pages('tools/list', 'tools', until);
      const usable = headers.usable(tools);
      const own = usable.map((tool) => (isReserved(nameOf(tool)) ? { name: nameOf(tool) } : tool));
      const others = await listOthers(has, (...of) => lists.optional(...of, until));
      return [...own, ...others].map((one) => withoutSecrets(one, redact));
    },
    async call(tool, input, { signal: until, answers, onProgress }) {
      const given = requestOptions(until, onProgress, redact);
      const ask = async (
        request: Readonly<{ method: string; params: object }>,
        more: Readonly<Record<string, string>> = {},
      ): Promise<unknown> => {
        const params = isModern ? { ...request.params, ...answering(answers) } : { ...request.params };
        return completed(
          await client.request({ method: request.method, params }, anyResult, {
            ...given,
            headers: { ...more },
          }),
        );
      };
      try {
        const result = isReserved(tool)
          ? await callOther(tool, input, { ask, read: (...of) => lists.optional(...of, until) })
          : await ask(
              { method: 'tools/call', params: { name: tool, arguments: { ...input } } },
              headersOfCall(headers.of(tool), input),
            );
        return { kind: 'answered', result };
      } catch (error) {
        if (until.aborted || error instanceof SignInNeeded || error instanceof InputNeeded) throw error;
        // The server wants other headers than its list said.
        if (error instanceof ProtocolError && error.code === headerMismatch) onListChanged();
        const fault: Fault =
          error instanceof ProtocolError
            ? { kind: 'refused', message: messageOf(error) }
            : callFault(error, open.lose);
        return { ...fault, message: told(fault.message) };
      }
    },
  };
};

const headerMismatch = -32_020;

function requestOptions(
  signal: AbortSignal,
  onProgress: (text: string) => void,
  redact: (text: string) => string,
) {
  return {
    signal,
    ...noTimeout,
    allowInputRequired: true,
    onprogress: ({ progress, total, message }: Progress) =>
      onProgress(redact(message ?? (total === undefined ? `${progress}` : `${progress} of ${total}`))),
  };
}

/** What a newer server wants as headers over HTTP. A tool that describes them wrongly is left out. */
function createHeaders(isUsed: boolean) {
  let headers: ReadonlyMap<unknown, ParamHeaders | undefined> = new Map();
  return {
    of: (tool: string): ParamHeaders | undefined => headers.get(tool),
    usable(tools: readonly unknown[]): readonly unknown[] {
      if (!isUsed) return tools;
      const shallow = tools.filter((tool) => isShallow(tool, nestingLimit));
      headers = new Map(shallow.map((tool) => [nameOf(tool), readParamHeaders(schemaOf(tool))]));
      return tools.filter((tool) => !headers.has(nameOf(tool)) || headers.get(nameOf(tool)) !== undefined);
    },
  };
}

/** What a newer server gets with each call: that forms can be filled in, and what was filled in. */
function answering(answers: InputAnswers | undefined): object {
  const _meta = { [CLIENT_CAPABILITIES_META_KEY]: { elicitation: { form: {} } } };
  const { responses = {}, state } = answers ?? {};
  const inputResponses = Object.keys(responses).length === 0 ? undefined : responses;
  return defined<unknown>({ _meta, inputResponses, requestState: state });
}

type ListMethod = Parameters<ReadPages>[0] | 'tools/list';

/**
 * Reads lists of a server. A newer server says how long a list lasts (X9): lists of resources are kept that long, for this
 * connection alone, also if others may share them. Tools and prompts are read again when they are older.
 */
function createLists(
  { client, isModern, has, closed }: OpenClient,
  { clock, onListChanged }: Parameters<ConnectOnce>[1],
) {
  const kept = new Map<ListMethod, Readonly<{ until: number; found: readonly unknown[] }>>();
  const over = new AbortController();
  void closed.then(() => over.abort());
  let timer = new AbortController();

  /** Servers that announce changes are believed, so that their lists are not read again by age. */
  function readAgainAfter(ttlMs: number): void {
    if (has.tools?.listChanged === true) return;
    timer.abort();
    timer = new AbortController();
    const wait = Math.min(Math.max(ttlMs, lastsMs.least), lastsMs.most);
    clock.sleep(wait, AbortSignal.any([timer.signal, over.signal])).then(onListChanged, () => undefined);
  }

  async function pages(method: ListMethod, key: string, until: AbortSignal): Promise<readonly unknown[]> {
    const known = kept.get(method);
    if (known !== undefined && known.until > clock.now()) return known.found;
    const found: unknown[] = [];
    let cursor: string | undefined;
    let ttlMs = lastsMs.most;
    for (let count = 0; count < mostPages && found.length <= mostTools; count++) {
      const params = cursor === undefined ? {} : { cursor };
      const read = await client.request({ method, params }, anyPage, { signal: until, ...noTimeout });
      const { [key]: listed = [] } = z.object({ [key]: z.array(z.unknown()) }).parse(read);
      found.push(...listed.slice(0, mostTools + 1).map(unwrapped));
      ttlMs = Math.min(ttlMs, read.ttlMs ?? 0);
      cursor = read.nextCursor;
      if (cursor === undefined) break;
    }
    if (!isModern || !(ttlMs > 0)) return found;
    if (method.startsWith('resources/')) kept.set(method, { until: clock.now() + ttlMs, found });
    else if (method === 'tools/list') readAgainAfter(ttlMs);
    return found;
  }

  return {
    pages,
    /** Servers may say that they have such a list and refuse it. Their tools are used all the same. */
    optional: (...of: Parameters<typeof pages>): Promise<readonly unknown[]> =>
      pages(...of).catch((error: unknown) => {
        if (error instanceof ProtocolError || isMalformed(error)) return [];
        throw error;
      }),
    forgetResources: () => kept.clear(),
  };
}

function nameOf(tool: unknown): unknown {
  return (Object(tool) as { name?: unknown }).name;
}

function schemaOf(tool: unknown): unknown {
  return (Object(tool) as { inputSchema?: unknown }).inputSchema;
}

/** Redacts a tool's definition. One that is nested too deep is emptied here, and `readDefinition` refuses it later. */
function withoutSecrets(tool: unknown, redact: (text: string) => string): unknown {
  if (isShallow(tool, nestingLimit)) return redactDeep(tool, redact);
  const name = nameOf(tool);
  return { name: typeof name === 'string' ? redact(name) : '', inputSchema: tooDeep };
}
