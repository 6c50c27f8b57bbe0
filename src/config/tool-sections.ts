import { z } from 'zod';
import { fixed } from '../core/texts/say.ts';
import { chatId, userId } from './id.ts';
import { privateNetwork } from './network-section.ts';
import { chatType, commandLine, hostPattern, httpUrl, section, type Complain } from './section.ts';

const action = z.enum(['allow', 'confirm', 'deny']);

/** Settings of tools, which the tool itself checks later (X3). */
const plainData: z.ZodType<unknown, unknown> = z.json();
const ownTable = z.record(z.string(), plainData);

/** `[policy]`: what happens to a call of each risk before it runs (T8). */
export const policySection = section({
  safe: action.default('allow'),
  moderate: action.default('allow'),
  dangerous: action.default('confirm'),
  critical: action.default('deny'),
  approvers: z.array(userId).default([]),
  rules: z
    .array(
      section(
        {
          tool: z.string().min(1).optional(),
          skill: z.string().min(1).optional(),
          chat: chatId.optional(),
          sender: userId.optional(),
          action,
          four_eyes: z.boolean().default(false),
        },
        (rule, complain) => {
          const named = ['tool', 'skill', 'chat', 'sender'].some((key) => rule[key] !== undefined);
          if (!named) complain([], 'a rule names at least one of tool, skill, chat and sender');
          if (rule['four_eyes'] === true && rule['action'] !== 'confirm')
            complain(['four_eyes'], 'write action = "confirm" beside it, or remove it');
        },
      ),
    )
    .default([]),
});

/** `[sandbox]`. Its limits hold for each command (T9). */
export const sandboxSection = section({
  mode: z.enum(['auto', 'bubblewrap', 'virtual', 'docker', 'off']).default('auto'),
  memory_mb: z.int().min(16).default(1024),
  cpu_seconds: z.int().min(1).default(120),
  processes: z.int().min(1).default(128),
  disk_mb: z.int().min(1).default(1024),
  timeout_seconds: z.int().min(1).max(86_400).default(600),
  engine: z.enum(['docker', 'podman']).optional(),
  image: z.string().min(1).optional(),
  private_networks: z.array(privateNetwork).default([]),
  package_hosts: z.array(hostPattern).default(['pypi.org', 'files.pythonhosted.org']),
});

/** `[capabilities]`: programs in front of sensitive systems (C1). */
export const capabilitiesSection = section({
  key_file: z.string().min(1).optional(),
  providers: z
    .record(
      z.string(),
      section({
        enabled: z.boolean().default(true),
        namespace: z.string().min(1).optional(),
        command: commandLine.optional(),
        timeout_seconds: z.int().min(1).max(300).default(30),
      }),
    )
    .default({}),
});

export const plugin = section(
  {
    path: z.string().min(1).optional(),
    package: z.string().min(1).optional(),
    enabled: z.boolean().default(true),
    main: z.boolean().default(true),
    config: ownTable.default({}),
    chat_types: z.array(chatType).optional(),
    users: z.array(userId).optional(),
  },
  (table, complain) => {
    if ((table['path'] === undefined) === (table['package'] === undefined)) {
      complain([], 'a plugin has either path or package');
    }
  },
);

/** What people can set for `web_search` in a chat (X3). */
export const webSearchSettings = z.object({
  results: z
    .int()
    .min(1)
    .max(20)
    .default(10)
    .meta({ title: fixed`Results`, description: fixed`How many results a search gives at most.`, step: 5 }),
  language: z
    .string()
    .regex(/^[a-z]{2,3}$/, 'write a language in two or three small letters, such as "en"')
    .optional()
    .meta({
      title: fixed`Language`,
      description: fixed`The language results are written in.`,
      placeholder: 'en',
    }),
  country: z
    .string()
    .regex(/^[A-Z]{2}$/, 'write a country in two capitals, such as "CH"')
    .optional()
    .meta({ title: fixed`Country`, description: fixed`The country results come from.`, placeholder: 'CH' }),
  safesearch: z
    .enum(['off', 'moderate', 'strict'])
    .default('moderate')
    .meta({
      title: fixed`Safe search`,
      description: fixed`How strictly explicit results are filtered.`,
      options: { off: fixed`Off`, moderate: fixed`Moderate`, strict: fixed`Strict` },
    }),
});
export type WebSearchSettings = z.output<typeof webSearchSettings>;

/** In characters. With its label a page stays below the limit of any tool (M3). */
const longestPage = 26_000;

/** What people can set for `web_fetch` in a chat (X3). */
export const webFetchSettings = z.object({
  characters: z
    .int()
    .min(1_000)
    .max(longestPage)
    .default(longestPage)
    .meta({
      title: fixed`Longest page`,
      description: fixed`How much of a page is read. Shorter is cheaper.`,
      unit: fixed`characters`,
      step: 5_000,
    }),
});

/** The same keys for the file, each optional and without default, so that what is left out stays left out. */
function keysOf(settings: z.ZodObject): Record<string, z.ZodType> {
  const shape: Record<string, z.ZodType> = { ...settings.shape };
  return Object.fromEntries(Object.entries(shape).map(([key, field]) => [key, withoutDefault(field)]));
}

function withoutDefault(field: z.ZodType): z.ZodType {
  const inner = field instanceof z.ZodDefault ? (field.unwrap() as z.ZodType) : field;
  return z.optional(inner);
}

/** `[tools.web_search]`. The tool exists only if a service is named (T2). */
const webSearch = section(
  {
    provider: z.enum(['brave', 'searxng', 'model']),
    /** US dollars for a thousand searches of the model's server. Others are not counted. */
    price: z.number().min(0).optional(),
    api_key: z.string().min(1).optional(),
    base_url: httpUrl.optional(),
    ...keysOf(webSearchSettings),
  },
  (table, complain) => {
    if (table['provider'] === 'brave' && table['api_key'] === undefined) {
      complain(['api_key'], 'Brave needs a key: write "$BRAVE_API_KEY"');
    }
    const isModels = table['provider'] === 'model';
    for (const key of ['api_key', 'base_url', ...Object.keys(webSearchSettings.shape)])
      if (isModels && table[key] !== undefined)
        complain([key], 'the server of the model searches by its own rules: remove the line');
    if (table['provider'] === 'searxng' && table['base_url'] === undefined) {
      complain(['base_url'], 'write the address of your SearXNG, such as "http://127.0.0.1:8080"');
    }
  },
);

/** `[tools.transcribe]`: speech to text (M12). Without it, voice messages are not understood. */
const transcribe = section(
  {
    base_url: httpUrl.optional(),
    command: commandLine.optional(),
    api_key: z.string().min(1).optional(),
    model: z.string().min(1).default('whisper-1'),
    language: z
      .string()
      .regex(/^[a-z]{2,3}$/, 'write a language in two or three small letters, such as "en"')
      .optional(),
  },
  (table, complain) => {
    if ((table['command'] === undefined) === (table['base_url'] === undefined))
      complain(['base_url'], 'write either base_url or command');
  },
);

export const toolsSection = z
  .object({
    web_search: webSearch.optional(),
    web_fetch: section(keysOf(webFetchSettings)).optional(),
    transcribe: transcribe.optional(),
  })
  .catchall(ownTable);

const textTable = z.record(z.string(), z.string({ error: 'write text in quotes' }));

const mcpServer = section(
  {
    command: z.string().min(1).optional(),
    args: z.array(z.string()).default([]),
    bundle: z.string().min(1).optional(),
    env: textTable.default({}),
    url: httpUrl.optional(),
    headers: textTable.default({}),
    auth: z.enum(['person', 'shared', 'headers']).default('headers'),
    client_id: z.string().min(1).optional(),
    client_secret: z.string().min(1).optional(),
    scopes: z.array(z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/, 'write one scope a text')).default([]),
    issuer: httpUrl.optional(),
    trusted: z.boolean().default(false),
    main: z.boolean().default(true),
    chat_types: z.array(chatType).optional(),
    users: z.array(userId).optional(),
  },
  (table, complain) => {
    if ((table['command'] === undefined) === (table['url'] === undefined)) {
      complain([], 'a server has either command or url');
    }
    if (table['bundle'] !== undefined && table['url'] !== undefined)
      complain(['bundle'], 'only a server with a command is in a bundle');
    if (table['bundle'] === undefined && /\$\{PLUGIN_(?:ROOT|DATA)\}/.test(JSON.stringify(table)))
      complain([], 'write bundle = "NAME" beside ${PLUGIN_ROOT} or ${PLUGIN_DATA}');
    checkSignIn(table, complain);
  },
);

/** Complains of keys for a sign-in that say something else than `auth` (X8). */
function checkSignIn(table: Readonly<Record<string, unknown>>, complain: Complain): void {
  const { auth, url, headers } = table;
  if (auth === 'headers') {
    for (const key of ['client_id', 'client_secret', 'issuer'])
      if (table[key] !== undefined)
        complain([key], 'write auth = "person" or "shared" beside it, or remove it');
    return;
  }
  if (url === undefined) complain(['auth'], 'only a server with a url has a sign-in');
  if (Object.keys(Object(headers) as object).some((name) => name.toLowerCase() === 'authorization'))
    complain(
      ['headers'],
      `remove Authorization: with auth = "${String(auth)}" the token of a sign-in is sent`,
    );
  if (table['client_secret'] !== undefined && table['client_id'] === undefined)
    complain(['client_secret'], 'write its client_id, too');
}

/** `[mcp]`. It refuses server names that could make two tools share a name (X7): `x` with `y_z`, and `x_y` with `z`. */
export const mcpSection = z.record(z.string(), mcpServer).superRefine((servers, context) => {
  const names = Object.keys(servers);
  for (const [index, name] of names.entries()) {
    const other = names.find((one, at) => at !== index && plainName(name).startsWith(`${plainName(one)}_`));
    const same = names.slice(0, index).find((one) => plainName(one) === plainName(name));
    const found = other ?? same;
    if (found === undefined) continue;
    const message = `tools of [mcp.${found}] and [mcp.${name}] could get the same name: rename one, such as ${name.replaceAll('_', '-')}`;
    context.addIssue({ code: 'custom', path: [name], message });
  }
});

function plainName(server: string): string {
  return server.replace(/[^a-zA-Z0-9_-]/g, '_');
}
