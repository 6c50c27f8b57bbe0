import { z } from 'zod';

/** Names of prompts begin with this. No tool of a server has such a name, see `isReserved`. */
export const promptPrefix = 'prompt:';
const resourcesPrefix = 'resources:';
const readResources = `${resourcesPrefix}read`;
const listResources = `${resourcesPrefix}list`;

/** How many resources and templates one list tells of. */
const mostListed = 1_000;
/** Characters of a prompt's name, so that it fits into the name of a tool with its prefix. */
const longestName = 200;

/** Reads all pages of a list. Resolves with nothing if the server refuses the list or sends something else. */
export type ReadPages = (
  method: 'prompts/list' | 'resources/list' | 'resources/templates/list',
  key: string,
) => Promise<readonly unknown[]>;

type Asked = Readonly<
  | { method: 'prompts/get'; params: { name: string; arguments: Record<string, string> } }
  | { method: 'resources/read'; params: { uri: string } }
>;

const optional = z.string().optional().catch(undefined);
const prompt = z.object({
  name: z.string().min(1).max(longestName),
  title: optional,
  description: optional,
  arguments: z
    .array(
      z.object({
        name: z.string(),
        description: optional,
        required: z.boolean().optional().catch(undefined),
      }),
    )
    .default([]),
});

/** Whether a name is one that only prompts and resources have here. */
export function isReserved(name: unknown): boolean {
  return typeof name === 'string' && (name.startsWith(promptPrefix) || name.startsWith(resourcesPrefix));
}

/** Whether the bot itself wrote the description of this tool, because the server only says that it has resources. */
export function isOfResources(name: string): boolean {
  return name.startsWith(resourcesPrefix);
}

/** The prompts and resources of a server, described as tools are, so that the same rules hold for them (X9). */
export async function listOthers(
  has: Readonly<{ prompts?: unknown; resources?: unknown }>,
  read: ReadPages,
): Promise<readonly unknown[]> {
  const prompts = has.prompts === undefined ? [] : await read('prompts/list', 'prompts');
  return [...prompts.map(promptAsTool), ...(has.resources === undefined ? [] : resourceTools)];
}

/** What a malformed prompt becomes is refused when its definition is read, like a malformed tool. */
function promptAsTool(raw: unknown): unknown {
  const parsed = prompt.safeParse(raw);
  const { name } = Object(raw) as { name?: unknown };
  if (!parsed.success) return { name: `${promptPrefix}${typeof name === 'string' ? name : ''}` };
  const { title, description, arguments: takes } = parsed.data;
  return {
    name: `${promptPrefix}${parsed.data.name}`,
    title,
    description,
    inputSchema: {
      type: 'object',
      properties: Object.fromEntries(
        takes.map((one) => [one.name, { type: 'string', description: one.description }]),
      ),
      required: takes.filter(({ required }) => required === true).map((one) => one.name),
    },
    annotations: { readOnlyHint: true },
  };
}

const resourceTools = [
  {
    name: listResources,
    description:
      'Lists the resources of this server: the URI, name, type and description of each, and templates of further URIs.',
    inputSchema: { type: 'object', properties: {} },
    annotations: { readOnlyHint: true },
  },
  {
    name: readResources,
    description:
      'Reads one resource of this server. Text is returned; other content is sent to the person as a file.',
    inputSchema: {
      type: 'object',
      properties: {
        uri: { type: 'string', description: 'A URI from the list, or one made from a template.' },
      },
      required: ['uri'],
    },
    annotations: { readOnlyHint: true },
  },
];

/** Gets a prompt, or lists or reads resources. Resolves with what a tool would have answered. */
export async function callOther(
  name: string,
  input: Readonly<Record<string, unknown>>,
  { ask, read }: Readonly<{ ask(request: Asked): Promise<unknown>; read: ReadPages }>,
): Promise<unknown> {
  if (name === listResources) return { content: [{ type: 'text', text: await resourceLines(read) }] };
  if (name === readResources) {
    const { contents } = answered.parse(
      await ask({ method: 'resources/read', params: { uri: String(input['uri']) } }),
    );
    return { content: contents.map((resource) => ({ type: 'resource', resource })) };
  }
  const given = Object.entries(input).map(([key, value]) => [key, String(value)] as const);
  const params = { name: name.slice(promptPrefix.length), arguments: Object.fromEntries(given) };
  const { messages } = answered.parse(await ask({ method: 'prompts/get', params }));
  return { content: messages.flatMap(partsOfMessage) };
}

const list = z.array(z.unknown()).default([]).catch([]);
const answered = z.object({ contents: list, messages: list });
const message = z.object({ role: z.string().catch('user'), content: z.unknown() });

/** A prompt may hold a whole conversation, in which the server also wrote what an assistant says. */
function partsOfMessage(raw: unknown): readonly unknown[] {
  const { role, content } = message.parse(raw);
  return [...(role === 'user' ? [] : [{ type: 'text', text: `[${role.slice(0, 20)}]` }]), content];
}

const described = z.object({
  uri: optional,
  uriTemplate: optional,
  name: optional,
  mimeType: optional,
  description: optional,
});

async function resourceLines(read: ReadPages): Promise<string> {
  const found = [
    ...(await read('resources/list', 'resources')),
    ...(await read('resources/templates/list', 'resourceTemplates')),
  ];
  const lines = found.slice(0, mostListed).flatMap((raw) => {
    const parsed = described.safeParse(raw);
    if (!parsed.success) return [];
    const { uri, uriTemplate, name, mimeType, description } = parsed.data;
    const of = [name, mimeType, description].filter((text) => text !== undefined && text !== '');
    return uri === undefined && uriTemplate === undefined
      ? []
      : [`${uri ?? `${uriTemplate ?? ''} (a template)`}${of.length === 0 ? '' : `: ${of.join(', ')}`}`];
  });
  const more = found.length > mostListed ? [`and ${found.length - mostListed} more`] : [];
  return lines.length === 0 ? 'There are no resources now.' : [...lines, ...more].join('\n');
}
