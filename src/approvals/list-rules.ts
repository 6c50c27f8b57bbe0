import { mayStand, type KeptRule } from './standing-rules.ts';

/** A standing rule as the operator sees it; `counts`: whether the tool it was said of is still that one. */
export type ListedRule = KeptRule & Readonly<{ counts: boolean }>;

/**
 * Standing rules with whether they mean anything now (T8): one of a tool of an MCP server does not where that is described
 * otherwise or gone, nor where it was said before rules were bound to descriptions; one of `bash` never does. `editions`: of the tools that are on, by name.
 */
export function listRules(
  rules: readonly KeptRule[],
  editions: ReadonlyMap<string, string>,
): readonly ListedRule[] {
  return rules.map((rule) => {
    const { tool, edition } = rule;
    const isBound = edition !== undefined || tool.startsWith('mcp_');
    const isSame = !isBound || (edition !== undefined && editions.get(tool) === edition);
    return { ...rule, counts: isSame && mayStand(tool) };
  });
}
