import { createHash } from 'node:crypto';
import type { Config } from '../config/complete-config.ts';

/** `[mcp.NAME]`: a server as the operator wants it. */
export type McpSettings = Config['mcp'][string];

/** Tools of one server that are taken. */
export const mostTools = 256;

/** Which server a section means, its secrets left aside: with another one the operator agrees to its tools again (X7). */
export function identityOf({ command, args, url }: McpSettings): string {
  return createHash('sha256')
    .update(JSON.stringify([command ?? '', args, url ?? '']))
    .digest('hex');
}
