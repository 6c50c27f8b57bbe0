import type { Risk, Traits } from '../core/tool.ts';
import type { McpHints } from './read-definition.ts';

/**
 * The risk of a tool by what its server says (X7): `dangerous` where nothing counts; what is said to destroy is `critical`. Only a
 * trusted server is believed that a tool is less: `safe` where it only reads, `moderate` where it destroys nothing.
 */
export function riskOfHints({ readOnlyHint, destructiveHint }: McpHints, trusted: boolean): Risk {
  if (destructiveHint === true) return 'critical';
  if (!trusted) return 'dangerous';
  if (readOnlyHint === true) return 'safe';
  return destructiveHint === false ? 'moderate' : 'dangerous';
}

/** The same for traits: without trust the worst is taken. A server's own process may reach anything that its user may. */
export function traitsOfHints(
  hints: McpHints,
  of: Readonly<{ trusted: boolean; isProcess: boolean }>,
): Traits {
  const readOnly = of.trusted && hints.readOnlyHint === true && hints.destructiveHint !== true;
  return {
    sideEffects: !readOnly,
    idempotent: readOnly || (of.trusted && hints.idempotentHint === true),
    requiresNetwork: !(of.trusted && of.isProcess && hints.openWorldHint === false),
    requiresFilesystem: of.isProcess,
  };
}
