import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { answer } from '../../providers/notes/answer.ts';
import { createGrants } from '../../providers/notes/grants.ts';
import { openStorage } from '../../providers/notes/open-storage.ts';
import { createPageHandler } from '../../providers/notes/page-handler.ts';
import { Refusal } from '../../providers/notes/refusal.ts';
import { nodeCommand } from './node-command.ts';
import { createSigningHost, type SignedCall } from './signing-host.ts';

export const notesMain = path.join(import.meta.dirname, '../../providers/notes/main.ts');

/** Opens the notebook provider in a folder of its own with the page it links accounts by. `at` is its clock. */
export async function openNotesProvider(t: TestContext, at: { now: number } = { now: Date.now() }) {
  const folder = await mkdtemp(path.join(tmpdir(), 'skillet-notes-'));
  const host = createSigningHost('notes');
  const storage = openStorage(folder);
  const server = createServer();
  const page = await listen(server);
  server.on(
    'request',
    createPageHandler(
      createGrants(() => at.now),
      page.slice('http://'.length),
    ),
  );
  t.after(async () => {
    server.close();
    server.closeAllConnections();
    storage.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** What one request comes to: a result, or the code it was refused with. */
  const send = async (
    request: unknown,
    flow: 'code' | 'device' = 'code',
  ): Promise<Readonly<{ result?: Data; code?: string; message?: string }>> => {
    const options = { storage, page, flow, now: () => at.now, publicJwk: host.publicJwk };
    try {
      return { result: (await answer(request, options)) as Data };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return { code: error.code, message: error.message };
    }
  };
  const call = async (signed: SignedCall, flow?: 'code' | 'device') =>
    send(await host.request({ now: at.now, ...signed }), flow);
  const invoke = (
    operation: string,
    input: Readonly<Record<string, unknown>> = {},
    more: Readonly<{ user?: string; account?: string; key?: string; claims?: SignedCall['claims'] }> = {},
  ) => {
    const { account = 'home', key, ...rest } = more;
    const params = {
      ...{ capability_id: 'notes.book', operation, input_data: input, account_ref: account },
      ...(key === undefined ? {} : { idempotency_key: key }),
    };
    return call({ method: 'invoke', params, ...rest });
  };
  return {
    folder,
    host,
    page,
    storage,
    send,
    call,
    invoke,
    /** What a person does on the page: returns the address they land on, or the page's last words. */
    async decide(request: string, decision: 'allow' | 'deny'): Promise<string> {
      const body = new URLSearchParams({ request, decision });
      const response = await fetch(`${page}/decide`, { method: 'POST', body, redirect: 'manual' });
      return response.headers.get('location') ?? (await response.text());
    },
    /** Links a notebook by the authorization-code flow. */
    async link(user: string, notebook: string): Promise<Data | undefined> {
      const params = { capability_id: 'notes.book', account_hint: notebook };
      const { result } = await call({ method: 'auth_begin', params, user });
      const asked = new URL(String(result?.['auth_url'])).searchParams.get('request') ?? '';
      const callback = new URL(await this.decide(asked, 'allow'));
      const done = await call({
        method: 'auth_complete',
        user,
        params: {
          capability_id: 'notes.book',
          flow_state: result?.['flow_state'],
          authorization_code: callback.searchParams.get('code'),
          raw_callback_url: callback.href,
          state: callback.searchParams.get('state'),
        },
      });
      return done.result;
    },
    /** The provider as a process: what the bot starts. */
    async process(input: string, args: readonly string[] = []) {
      const [command, ...rest] = nodeCommand(notesMain, '--data', folder, '--page', page, ...args);
      const child = spawn(command, rest, {
        env: { PATH: process.env['PATH'], HOME: folder, SKILLET_PUBLIC_JWK: host.publicJwk },
      });
      child.stdin.end(input);
      const [stdout, stderr, [code]] = await Promise.all([
        text(child.stdout),
        text(child.stderr),
        once(child, 'close') as Promise<[number | null]>,
      ]);
      return { stdout, stderr, code };
    },
  };
}

export type Data = Readonly<Record<string, unknown>>;

async function listen(server: Server): Promise<string> {
  // An idle connection that the server ends just as a request is sent would fail that request.
  server.keepAliveTimeout = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
}
