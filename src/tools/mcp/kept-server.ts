import type { McpDefinition } from './read-definition.ts';

/** One tool of a server, as the operator agreed to it and as the server describes it now. */
export type KeptTool = Readonly<{
  name: string;
  /** Absent: it came later than the server, and nobody agreed to it yet. */
  agreed?: McpDefinition;
  /** Absent: the server does not have it now. */
  seen?: McpDefinition;
}>;

/** What is remembered of a server, over restarts. `identity`: which server it was. */
export type KeptServer = Readonly<{ identity: string; tools: readonly KeptTool[] }>;

/** A tool that is off until the operator agrees. */
export type Disagreement = Readonly<{ tool: string; why: 'changed' | 'new' }>;

/**
 * What is remembered after a server showed its list (X7). Its first list is agreed to: naming the server in config was the
 * operator's act. After that a tool that changed is off, and so is one that came later, unless the server is trusted.
 * `told`: what is off and was not when the last list came.
 */
export function takeListing(
  kept: KeptServer | undefined,
  listing: Readonly<{ identity: string; trusted: boolean; tools: readonly McpDefinition[] }>,
): Readonly<{ kept: KeptServer; told: readonly Disagreement[] }> {
  const { identity, trusted } = listing;
  const before = new Map(
    kept?.identity === identity ? kept.tools.map((tool) => [tool.name, tool] as const) : [],
  );
  const isFirst = kept?.identity !== identity;
  const now = new Map(listing.tools.map((tool) => [tool.name, tool]));
  const tools = [...new Set([...before.keys(), ...now.keys()])].sort().map((name): KeptTool => {
    const seen = now.get(name);
    const agreed = before.get(name)?.agreed ?? (isFirst || trusted ? seen : undefined);
    return {
      name,
      ...(agreed === undefined ? {} : { agreed }),
      ...(seen === undefined ? {} : { seen }),
    };
  });
  const told = tools.flatMap((tool): readonly Disagreement[] => {
    if (tool.seen === undefined || isOn(tool) || before.get(tool.name)?.seen?.hash === tool.seen.hash)
      return [];
    return [{ tool: tool.name, why: tool.agreed === undefined ? 'new' : 'changed' }];
  });
  return { kept: { identity, tools }, told };
}

/** Whether a tool may be used: the server has it, and it is what was agreed to. */
export function isOn({ agreed, seen }: KeptTool): boolean {
  return seen !== undefined && agreed?.hash === seen.hash;
}

/** The same with these tools agreed to as they are seen; a tool that is not seen with that hash any more is left as it was. */
export function agreeTo(
  kept: KeptServer,
  agreed: readonly Readonly<{ name: string; hash: string }>[],
): Readonly<{ kept: KeptServer; done: readonly string[] }> {
  const meant = (tool: KeptTool): boolean =>
    agreed.some(({ name, hash }) => name === tool.name && tool.seen?.hash === hash);
  const tools = kept.tools.map((tool) =>
    meant(tool) && tool.seen !== undefined ? { ...tool, agreed: tool.seen } : tool,
  );
  return { kept: { ...kept, tools }, done: kept.tools.filter(meant).map(({ name }) => name) };
}
