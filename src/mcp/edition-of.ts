import type { McpDefinition } from './read-definition.ts';

/** Which tool of which server, as it is described: with another description or server it is another one (X7, T8). `identity`: see `identityOf`. */
export function editionOf(identity: string, { hash }: Pick<McpDefinition, 'hash'>): string {
  return `${identity}.${hash}`;
}
