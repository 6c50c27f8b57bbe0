import { createHash } from 'node:crypto';
import { fail } from '../../core/envelope.ts';
import type { Tool, ToolContext, Risk, Traits } from '../../core/tool.ts';
import { jsonSchemaCheck, type SchemaCheck } from '../../lib/json/json-schema-check.ts';
import { escapeLabels, labelled } from '../../lib/text/escape-labels.ts';
import { oneLine } from '../../lib/text/text.ts';
import type { LinkCalled, ServerLink } from './create-lasting-link.ts';
import type { McpDefinition, McpHints } from './read-definition.ts';
import { isOfResources, promptPrefix } from './prompts-and-resources.ts';
import { promptCommand } from './prompt-command.ts';
import type { PersonInput } from './person-input.ts';
import { readResult } from './read-result.ts';
import { serverToolPrefix } from '../../core/tool.ts';

/** Makes a call, and asks the person what its server asks for. See `PersonInput`. */
export type Converse = PersonInput['converse'];

/** How many characters the Messages API allows in a name. */
const limit = 64;

/**
 * A tool of an MCP server. Its description is foreign, so it is labelled (X7, M11). Its input is checked as far as that
 * is safe; the server checks the rest.
 */
export function mcpTool(options: {
  server: string;
  /** Identifies the server, as `identityOf` computes it. */
  identity: string;
  definition: McpDefinition;
  trusted: boolean;
  isProcess: boolean;
  /** Whether the tool is still what was offered. It may have changed meanwhile. */
  isStill(): boolean;
  call(
    input: Readonly<Record<string, unknown>>,
    options: Parameters<ServerLink['call']>[2],
    context: ToolContext,
  ): Promise<LinkCalled | Readonly<{ kind: 'sign-in'; message: string }>>;
  assess?: Tool['assess'];
  converse: Converse;
  redact(text: string): string;
}): Tool {
  const { server, identity, definition, trusted, isProcess, isStill, call, assess, converse, redact } =
    options;
  const name = mcpToolName(server, definition.name);
  const check = checkOf(definition.inputSchema);
  const from = oneLine(server, 40);
  return Object.freeze({
    name,
    description: describe(from, definition),
    command: promptCommand(server, definition),
    about: aboutOf(from, definition),
    definitionHash: definitionHash(identity, definition),
    inputSchema: definition.inputSchema,
    traits: traitsOfHints(definition.hints, { trusted, isProcess }),
    risk: riskOfDefinition(definition, trusted),
    labelsOutput: true,
    check,
    assess,
    async run(input, context) {
      const { signal, progress, artifact } = context;
      const problem = check(input);
      if (problem !== undefined) return fail('ARGUMENTS_INVALID', escapeLabels(problem));
      const onProgress = (text: string): void => progress(`${name}: ${oneLine(text, 80)}`);
      const of = { server, tool: definition.name, hash: definition.hash };
      const called = await converse(of, context, (answers) =>
        call(input as Record<string, unknown>, { signal, answers, mayCall: isStill, onProgress }, context),
      );
      if (called.kind === 'input') return called.refused;
      if (called.kind === 'answered')
        return readResult(called.result, { server: from, tool: name, redact, artifact });
      if (called.kind === 'sign-in') return fail('SIGN_IN_NEEDED', called.message);
      if (called.kind === 'off')
        return fail(
          'TOOL_POLICY_DENIED',
          `${name} was changed by its server: it is off until the operator agrees`,
        );
      const { code, text } = told[called.kind];
      const words = labelled('output', oneLine(called.message, 1_000), { from: `mcp ${from}` });
      return fail(code, `${name}: ${text}`, words);
    },
  });
}

function aboutOf(from: string, { name, title }: McpDefinition): NonNullable<Tool['about']> {
  const displayName = title ?? oneLine(name, 60);
  return { displayName, category: `mcp ${from}`, tags: [], version: '0.1.0', hidden: false };
}

function describe(from: string, { name, title, description }: McpDefinition): string {
  if (isOfResources(name)) return `The MCP server ${JSON.stringify(from)}: ${description}`;
  const said = description === '' ? (title ?? name) : description;
  return `A tool of the MCP server ${JSON.stringify(from)}, which says of it:\n${labelled('quote', said)}`;
}

const told = {
  refused: { code: 'TOOL_FAILED', text: 'the server refused the call. It says:' },
  lost: {
    code: 'TOOL_FAILED',
    text: 'the connection to its server was lost during the call; whether it was carried out is not known.',
  },
  unreached: { code: 'TOOL_FAILED', text: 'its server cannot be reached now: nothing was done.' },
  late: { code: 'TIMEOUT', text: 'its server took too long; whether it did something is not known.' },
} as const;

/** Checks input without patterns, because a foreign one could run for ever. The server checks them. */
function checkOf(schema: McpDefinition['inputSchema']): SchemaCheck {
  try {
    return jsonSchemaCheck(schema, { patterns: false });
  } catch {
    return jsonSchemaCheck({});
  }
}

/**
 * The name of a tool here: `mcp_SERVER_TOOL`, in which odd characters become `_`. Names over 64 characters end in eight
 * characters of a hash (X7).
 */
export function mcpToolName(server: string, tool: string): string {
  const name = `${serverToolPrefix}${clean(server)}_${clean(tool)}`;
  if (name.length <= limit) return name;
  const mark = createHash('sha256')
    .update(JSON.stringify([server, tool]))
    .digest('hex')
    .slice(0, 8);
  return `${name.slice(0, limit - mark.length - 1)}_${mark}`;
}

function clean(text: string): string {
  return text.replace(/[^a-zA-Z0-9_-]/g, '_');
}

/** Identifies a tool's definition. It changes with the server or with the description (X7, T8). */
export function definitionHash(identity: string, { hash }: McpDefinition): string {
  return `${identity}.${hash}`;
}

/** The risk of a tool. A person who types the command of a prompt sends only what they type, so that is `safe` (X9). */
export function riskOfDefinition({ name, hints }: McpDefinition, trusted: boolean): Risk {
  return name.startsWith(promptPrefix) ? 'safe' : riskOfHints(hints, trusted);
}

/**
 * The risk of a tool: `dangerous` by default, `critical` if it says that it is destructive (X7). Only tools of trusted
 * servers can be `safe` (read-only) or `moderate`.
 */
export function riskOfHints({ readOnlyHint, destructiveHint }: McpHints, trusted: boolean): Risk {
  if (destructiveHint === true) return 'critical';
  if (!trusted) return 'dangerous';
  if (readOnlyHint === true) return 'safe';
  return destructiveHint === false ? 'moderate' : 'dangerous';
}

/** The traits of a tool. Without trust the worst is assumed. A server's process can reach all that its user may. */
function traitsOfHints(hints: McpHints, of: Readonly<{ trusted: boolean; isProcess: boolean }>): Traits {
  const readOnly = of.trusted && hints.readOnlyHint === true && hints.destructiveHint !== true;
  return {
    sideEffects: !readOnly,
    idempotent: readOnly || (of.trusted && hints.idempotentHint === true),
    requiresNetwork: !(of.trusted && of.isProcess && hints.openWorldHint === false),
    requiresFilesystem: of.isProcess,
  };
}
