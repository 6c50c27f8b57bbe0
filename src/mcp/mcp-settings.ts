import { createHash } from 'node:crypto';
import type { Config } from '../config/complete-config.ts';

/** `[mcp.NAME]`. */
export type McpSettings = Config['mcp'][string];

/** Tools a server. */
export const mostTools = 256;

/** Without secrets. If it changes, the operator agrees to the tools again (X7). */
export function identityOf({ command, args, url }: McpSettings): string {
  return createHash('sha256')
    .update(JSON.stringify([command ?? '', args, url ?? '']))
    .digest('hex');
}
