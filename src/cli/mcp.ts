import type { Config } from '../config/complete-config.ts';
import { OperatorError } from '../core/errors.ts';
import { oneLine, printable } from '../lib/text/text.ts';
import { isOn, type ListedServer, type ToolAgreement } from '../features/mcp/server-agreement.ts';
import { mcpToolName, riskOfDefinition } from '../features/mcp/mcp-tool.ts';
import type { McpDefinition } from '../features/mcp/read-definition.ts';
import { askBot } from './ask-bot.ts';
import { openOperatorConfig } from './open-config.ts';
import { ago } from './status.ts';
import type { SharedOptions } from './command.ts';
import { agree, print, printJson, printList } from './console.ts';
import { skilletHere } from '../core/skillet-here.ts';

type Mcp = Config['mcp'];

/** Lists MCP servers and their tools. A tool that is off comes with the reason (X7). */
export async function mcpList({ config, json }: SharedOptions): Promise<void> {
  const servers = await askBot(config, 'mcp list');
  if (json === true) return printJson(servers);
  const { mcp } = await openOperatorConfig(config);
  const never = Object.keys(mcp)
    .filter((name) => !servers.some((server) => server.name === name))
    .map((name) => `${printable(name)}  no bot runs, and it was never connected`);
  const lines = [...servers.flatMap((server) => serverLines(server, mcp)), ...never];
  printList(lines, 'No MCP server is configured: [mcp.NAME] in config.toml names one.');
}

/** Shows what changed in tools, then switches them on after a yes (X7). */
export async function mcpAgree({
  server: name,
  tool,
  config,
  yes = false,
}: SharedOptions & Readonly<{ server: string; tool?: string; yes?: boolean }>): Promise<void> {
  const servers = await askBot(config, 'mcp list');
  const server = servers.find((one) => one.name === name);
  if (server === undefined)
    throw new OperatorError(`there is no MCP server ${printable(name)}: see \`${skilletHere()} mcp list\``);
  const isMeant = (one: ToolAgreement): boolean =>
    tool === undefined || one.name === tool || mcpToolName(name, one.name) === tool;
  const off = server.tools.filter((one) => one.seen !== undefined && !isOn(one) && isMeant(one));
  if (off.length === 0) {
    const known = tool === undefined || server.tools.some(isMeant);
    if (!known)
      throw new OperatorError(
        `${printable(name)} has no tool ${printable(tool)}: see \`${skilletHere()} mcp list\``,
      );
    return print('All tools of this server are on already.');
  }
  const { mcp } = await openOperatorConfig(config);
  print(off.flatMap((one) => changeLines(name, one, mcp)).join('\n'));
  const answer = await agree(
    `Switch ${off.length === 1 ? 'this tool' : `these ${off.length} tools`} on?`,
    yes,
  );
  if (answer === 'unasked') throw new OperatorError('there is nobody to ask here: add --yes');
  if (answer === 'no') return print('Nothing was changed.');
  const tools = off.map((one) => ({ name: one.name, hash: one.seen?.hash ?? '' }));
  await askBot(config, 'mcp agree', { server: name, tools });
  print(`On: ${off.map((one) => mcpToolName(name, one.name)).join(', ')}`);
}

function serverLines({ name, state, tools }: ListedServer, mcp: Mcp): readonly string[] {
  const settings = mcp[name];
  const how =
    settings === undefined
      ? 'no longer in the config'
      : settings.auth !== 'headers'
        ? 'with accounts: see accounts list'
        : state === undefined
          ? 'no bot runs'
          : state.is === 'lost'
            ? `away since ${ago(state.since)}: ${state.why}`
            : `${state.is} since ${ago(state.since)}`;
  return [
    `${printable(name)}  ${printable(oneLine(how, 300))}`,
    ...tools.map((tool) => {
      const of = tool.seen ?? tool.agreed;
      const risk = of === undefined ? '' : riskOfDefinition(of, settings?.trusted === true);
      const about = of === undefined ? '' : printable(oneLine(of.description, 80));
      return `  ${stateOf(tool).padEnd(12)} ${risk.padEnd(9)} ${mcpToolName(name, tool.name)}  ${about}`.trimEnd();
    }),
  ];
}

function stateOf(tool: ToolAgreement): string {
  if (tool.seen === undefined) return 'not there';
  if (isOn(tool)) return 'on';
  return tool.agreed === undefined ? 'off: new' : 'off: changed';
}

function changeLines(server: string, { name, agreed, seen }: ToolAgreement, mcp: Mcp): readonly string[] {
  const trusted = mcp[server]?.trusted === true;
  const lines = (mark: string, of: McpDefinition | undefined): readonly string[] =>
    of === undefined
      ? []
      : [
          `  ${mark} risk         ${riskOfDefinition(of, trusted)}`,
          ...of.description.split('\n').map((line) => `  ${mark} description  ${printable(line)}`),
          `  ${mark} input        ${printable(JSON.stringify(of.inputSchema))}`,
        ];
  const before = lines('-', agreed);
  const now = lines('+', seen);
  const text = (line: string): string => line.slice(4);
  return [
    mcpToolName(server, name),
    ...before.filter((line) => !now.some((other) => text(other) === text(line))),
    ...now.filter((line) => agreed === undefined || !before.some((other) => text(other) === text(line))),
    ...(agreed !== undefined && before.map(text).join('\n') === now.map(text).join('\n')
      ? ['  it changed in what is not shown to models: characters that are left out, or its hints']
      : []),
    '',
  ];
}
