import { createChatForm } from './chat-answer.ts';
import { chatFamily, shortName, toChatBody, type ChatBody } from './chat-request.ts';
import type { Ask, AskedBody, Endpoint, Fetch } from './http-model.ts';
import { faultOf, ServerFault } from './model-failure.ts';

/** A server may refuse several parameters, one after the other. */
const mostChanges = 5;

/** Changes a body so that a server accepts it. */
type Change = (body: ChatBody) => ChatBody;

/**
 * Makes the client of a server that speaks Chat Completions (M17). It is a POST with a stream as its answer: the `openai`
 * package would add 35 MB to an installation, so only its types are used. A parameter that a server refuses by name is
 * left out from then on, until the process ends.
 */
export async function connectChat({ baseUrl = '', apiKey, name }: Endpoint, watched: Fetch): Promise<Ask> {
  const family = chatFamily(baseUrl, name);
  const url = toUrl(baseUrl);
  const changes: Change[] = [];

  async function post(body: ChatBody, signal: AbortSignal): Promise<Response> {
    const response = await reached(
      watched(url.address, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'text/event-stream',
          'user-agent': 'Skillet',
          ...(apiKey === undefined ? url.headers : { authorization: `Bearer ${apiKey}` }),
        },
        body: JSON.stringify(body),
        signal,
      }),
    );
    if (response.ok) return response;
    const text = await reached(response.text());
    throw faultOf(response.status, parsed(text), response.headers);
  }

  return async (asked, signal) => {
    const form = createChatForm(shortened(asked));
    for (let tries = 0; ; tries++) {
      const body = changes.reduce((changed, change) => change(changed), toChatBody(asked, family));
      try {
        return { response: await post(body, signal), form };
      } catch (error) {
        const change = error instanceof ServerFault ? changeFor(error, body) : undefined;
        if (change === undefined || tries >= mostChanges) throw error;
        changes.push(change);
      }
    }
  };
}

/** The address of a request. A user name and password in it become a header, as fetch refuses them. */
function toUrl(baseUrl: string): Readonly<{ address: string; headers: Readonly<Record<string, string>> }> {
  const url = new URL(baseUrl);
  const { username, password } = url;
  url.username = url.password = '';
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/chat/completions`;
  const basic = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString(
    'base64',
  );
  return { address: url.href, headers: username === '' ? {} : { authorization: `Basic ${basic}` } };
}

/** What fetch throws if it reaches nobody, as a fault. An abort stays what it is. */
async function reached<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Error && error.name === 'AbortError') throw error;
    throw new ServerFault(error instanceof Error ? error.message : String(error), {
      cause: error instanceof Error && error.message === 'fetch failed' ? error.cause : error,
    });
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Tools by the names that this API knows them by, if those are others. */
function shortened({ tools = [] }: AskedBody): ReadonlyMap<string, string> {
  const names = tools.flatMap((tool) => ('name' in tool ? [tool.name] : []));
  return new Map(names.map((name) => [shortName(name), name]));
}

const unknown =
  /unsupported|not supported|unrecognized|unknown|unexpected|not permitted|extra|additional propert|invalid.*param/i;

/** The change after which a server may accept a body that it refused. Undefined if it is about something else. */
function changeFor({ status, said = '', param }: ServerFault, body: ChatBody): Change | undefined {
  if (status !== 400 && status !== 422) return undefined;
  const isAbout = (name: string): boolean =>
    param === name || (new RegExp(String.raw`\b${name}\b`).test(said) && unknown.test(said));
  // OpenAI refuses tools with its default effort, too: only "none" is accepted there.
  if (isAbout('reasoning_effort')) {
    const none = /'none'/.test(said) && body.reasoning_effort !== 'none';
    if (none || body.reasoning_effort !== undefined)
      return ({ reasoning_effort: _, ...rest }) => (none ? { ...rest, reasoning_effort: 'none' } : rest);
  }
  if (body.max_tokens !== undefined && isAbout('max_tokens'))
    return ({ max_tokens, ...rest }) => ({ ...rest, max_completion_tokens: max_tokens });
  if (body.max_completion_tokens !== undefined && isAbout('max_completion_tokens'))
    return ({ max_completion_tokens, ...rest }) => ({ ...rest, max_tokens: max_completion_tokens });
  if (body.stream_options !== undefined && isAbout('stream_options'))
    return ({ stream_options: _, ...rest }) => rest;
  // Without tools none can be called, either.
  if (body.tool_choice !== undefined && isAbout('tool_choice'))
    return ({ tool_choice, tools, ...rest }) => (tool_choice === 'none' ? rest : { ...rest, tools });
  return undefined;
}
