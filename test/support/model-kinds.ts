import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createServer } from '../../src/lib/net/node-http.ts';
import { startChatServer } from '../servers/chat/chat-server.ts';
import {
  startMessagesServer,
  type MessagesServer,
  type Script,
} from '../servers/messages/messages-server.ts';
import type { Model, ModelApi } from '../../src/core/model.ts';
import { httpModelAt, type ModelAt } from './model-at.ts';
import { quietLog } from './quiet-log.ts';

/** Each kind of API with a model that its strict server knows. */
export const kinds: readonly Readonly<{ api: ModelApi; model: string }>[] = [
  { api: 'anthropic', model: 'claude-sonnet-5-5' },
  { api: 'openai', model: 'gpt-5.4' },
  { api: 'bedrock', model: 'global.anthropic.claude-sonnet-5-5-v1:0' },
  { api: 'vertex', model: 'claude-sonnet-5-5@20261001' },
];

type Ending = Readonly<{ after(end: () => unknown): void }>;

export type KindStage = Readonly<{ server: MessagesServer; model: Model; waits: readonly number[] }>;

/** The strict server of a kind, and a model there. No pause lasts. */
export async function stageOf(
  t: Ending,
  { api, model }: Readonly<{ api: ModelApi; model: string }>,
  script: Script,
  more: Partial<ModelAt> & Readonly<{ wire?: Parameters<typeof startMessagesServer>[0]['wire'] }> = {},
): Promise<KindStage> {
  const { wire = {}, ...settings } = more;
  const server = await serverOf(api, { script, wire });
  t.after(() => server.close());
  if (api === 'bedrock' || api === 'vertex') await signIn(t);
  const waits: number[] = [];
  const clock = {
    now: () => 0,
    async sleep(ms: number, signal?: AbortSignal) {
      signal?.throwIfAborted();
      waits.push(ms);
    },
  };
  const place = { baseUrl: server.url, ...keyOf(api), ...(settings.endpoint ?? {}) };
  const made = { alias: 'default', model, api, maxTokens: 2_000, ...settings, endpoint: place };
  return { server, waits, model: httpModelAt(made, { log: quietLog(), clock, random: () => 0 }) };
}

export function serverOf(
  api: ModelApi,
  options: Parameters<typeof startMessagesServer>[0],
): Promise<MessagesServer> {
  if (api === 'openai') return startChatServer(options);
  return startMessagesServer({ ...options, ...(api === 'anthropic' ? {} : { cloud: api }) });
}

function keyOf(api: ModelApi): Readonly<{ apiKey?: string; region?: string; project?: string }> {
  if (api === 'bedrock') return { region: 'eu-central-1' };
  if (api === 'vertex') return { region: 'europe-west1', project: 'a-project' };
  return { apiKey: 'sk-test-a-key-that-must-stay-in' };
}

/**
 * What the default chains of AWS and Google find: keys in variables, and the credentials file of a signed-in user, whose
 * tokens come from a server on loopback.
 */
export async function signIn(t: Ending): Promise<void> {
  const tokens = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify({
        access_token: 'ya29.a-token-that-must-stay-in',
        token_type: 'Bearer',
        expires_in: 3_600,
      }),
    );
  });
  tokens.listen(0, '127.0.0.1');
  await once(tokens, 'listening');
  const { port } = tokens.address() as AddressInfo;
  const folder = await mkdtemp(path.join(tmpdir(), 'skillet-cloud-'));
  const file = path.join(folder, 'credentials.json');
  const user = {
    type: 'external_account_authorized_user',
    audience: '//iam.googleapis.com/locations/global/workforcePools/POOL/providers/PROVIDER',
    client_id: 'client',
    client_secret: 'secret',
    refresh_token: 'refresh',
    token_url: `http://127.0.0.1:${port}/token`,
  };
  await writeFile(file, JSON.stringify(user));
  const variables: Readonly<Record<string, string>> = {
    AWS_ACCESS_KEY_ID: 'AKIATEST',
    AWS_SECRET_ACCESS_KEY: 'a-secret-that-must-stay-in',
    AWS_EC2_METADATA_DISABLED: 'true',
    GOOGLE_APPLICATION_CREDENTIALS: file,
    GOOGLE_CLOUD_PROJECT: 'a-project',
    METADATA_SERVER_DETECTION: 'none',
  };
  const before = Object.keys(variables).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, variables);
  t.after(async () => {
    for (const [name, value] of before)
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    tokens.close();
    tokens.closeAllConnections();
    await rm(folder, { recursive: true, force: true });
  });
}
