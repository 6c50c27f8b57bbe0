import { whyNoAccess, type AccessContext } from '../access/decide-skill.ts';
import type { Decision } from '../access/decide-message.ts';
import type { Log } from '../lib/log.ts';
import type { OutsideSource, OutsideTool, Requester, Tool } from '../core/tool.ts';
import type { ToolTable } from '../core/built-in-tools.ts';

/** Tools of plugins and MCP servers (X1, X7). */
export type OutsideTools = Readonly<{
  /**
   * What the main agent or a run may offer this person here now, sorted by name. `person`: what they may start by a
   * command, whose answer goes to the main agent.
   */
  offered(requester: Requester, to: 'main' | 'run' | 'person'): Promise<readonly Tool[]>;
  /** All of these tools, no matter who may use them, sorted by name. */
  all(): readonly Tool[];
  names(): readonly string[];
  /** Whether this person may call the tool now. Tools from elsewhere are always allowed. */
  mayCall(tool: Tool, requester: Requester): Promise<Decision<'TOOL_POLICY_DENIED'>>;
}>;

/**
 * If names clash, built-in tools win, then earlier sources; the log names the loser once (X6). An error during the
 * decision denies.
 */
export function createOutsideTools(options: {
  sources: readonly OutsideSource[];
  isOwner(sender: string): Promise<boolean>;
  accessOf: AccessContext;
  builtInTools: ToolTable;
  log: Log;
}): OutsideTools {
  const { sources, isOwner, accessOf, builtInTools, log } = options;
  const builtIn = new Map(builtInTools.names().map((name) => [name, 'this bot']));
  const given = new WeakSet<Tool>();
  const reported = new Set<string>();

  const current = (): ReadonlyMap<string, OutsideTool> =>
    distinct(
      sources.flatMap((source) => source()),
      builtIn,
      report,
    );

  function report(name: string, owner: string, from: string): void {
    const key = JSON.stringify([name, owner, from]);
    if (reported.has(key)) return;
    reported.add(key);
    log.warn({ tool: name, of: owner, refused: from }, `${owner} and ${from} both bring a tool ${name}`);
  }

  async function whyNot({ tool, access }: OutsideTool, requester: Requester): Promise<string | undefined> {
    const { sender } = requester;
    const isTheirs = access.users === 'owners' && (await isOwner(sender));
    const users = isTheirs ? [sender] : usersOf(access);
    const rules = { chatTypes: access.chatTypes, sensitive: false, users };
    return whyNoAccess(tool.name, rules, await accessOf({ ...requester, sender: { id: sender } }));
  }

  return {
    async offered(requester, to) {
      const tools = [...current().values()].filter(
        ({ main, tool }) => (main || to === 'run') && (tool.command !== undefined) === (to === 'person'),
      );
      const judged = await Promise.all(
        tools.map(async (one) => ((await whyNot(one, requester)) === undefined ? [one.tool] : [])),
      );
      const offered = judged.flat().sort((a, b) => (a.name < b.name ? -1 : 1));
      for (const tool of offered) given.add(tool);
      return offered;
    },
    all: () => [...current().values()].map(({ tool }) => tool).sort((a, b) => (a.name < b.name ? -1 : 1)),
    names: () => [...current().keys()],
    async mayCall(tool, requester) {
      if (!given.has(tool)) return { allowed: true };
      const now = current().get(tool.name);
      const reason = now === undefined ? `${tool.name} no longer exists` : await whyNot(now, requester);
      if (reason === undefined) return { allowed: true };
      const hint = `${tool.name} may not be used here any more: say what was not done`;
      return { allowed: false, code: 'TOOL_POLICY_DENIED', reason, hint };
    },
  };
}

/** The tools by name. If two share a name or a command, only the first is kept. */
function distinct(
  tools: readonly OutsideTool[],
  builtIn: ReadonlyMap<string, string>,
  report: (name: string, owner: string, from: string) => void,
): ReadonlyMap<string, OutsideTool> {
  const found = new Map<string, OutsideTool>();
  const commands = new Map<string, string>();
  for (const outside of tools) {
    const { name, command } = outside.tool;
    const owner =
      builtIn.get(name) ??
      found.get(name)?.from ??
      (command === undefined ? undefined : commands.get(command.name));
    if (owner !== undefined) {
      report(name, owner, outside.from);
      continue;
    }
    found.set(name, outside);
    if (command !== undefined) commands.set(command.name, outside.from);
  }
  return found;
}

/** Ids of the people who may use a tool, besides owners. Undefined if everybody may. */
function usersOf({ users }: OutsideTool['access']): readonly string[] | undefined {
  if (users === 'everybody') return undefined;
  return users === 'owners' ? [] : users;
}
