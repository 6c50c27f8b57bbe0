import { createHash } from 'node:crypto';
import type { Config } from '../../config/complete-config.ts';

/** A server as `[mcp.NAME]` configures it. */
export type McpSettings = Config['mcp'][string];

/** How many tools of one server are used. */
export const mostTools = 256;

/** Identifies a server, without its secrets. If it changes, the operator has to approve the tools again (X7). */
export function identityOf({ command, args, url, bundle }: McpSettings): string {
  return createHash('sha256')
    .update(JSON.stringify([command ?? '', args, url ?? ''].concat(bundle ?? [])))
    .digest('hex');
}

/** Servers to which people sign in. */
export function signedIn(all: Readonly<Record<string, McpSettings>>): Readonly<Record<string, McpSettings>> {
  return Object.fromEntries(Object.entries(all).filter(([, { auth }]) => auth !== 'headers'));
}
