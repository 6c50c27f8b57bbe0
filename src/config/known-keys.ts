import { z } from 'zod';
import { configSchema } from './schema.ts';

type Node = Readonly<{
  properties?: Readonly<Record<string, Node>>;
  additionalProperties?: Node | boolean;
  items?: Node;
}>;

/** Keys that the schema knows at a place of the file; list positions and free names lead on. */
export function knownKeys(path: readonly PropertyKey[]): readonly string[] {
  let node: Node | undefined = inputSchema();
  for (const part of path) node = node && below(node, part);
  return Object.keys(node?.properties ?? {});
}

/** Every key of the schema from the top; `*` stands for a free name, `[]` for a list's item. */
export function everyKey(): readonly string[] {
  const visit = (node: Node, prefix: string): readonly string[] => {
    const { properties = {}, additionalProperties: other, items } = node;
    const named = Object.entries(properties).flatMap(([key, child]) => visit(child, `${prefix}.${key}`));
    const free = typeof other === 'object' && isTable(other) ? visit(other, `${prefix}.*`) : [];
    const listed = items !== undefined && isTable(items) ? visit(items, `${prefix}[]`) : [];
    const inner = [...named, ...free, ...listed];
    return inner.length > 0 ? inner : [prefix.replace(/^\./, '')];
  };
  return visit(inputSchema(), '');
}

function below({ properties, additionalProperties, items }: Node, part: PropertyKey): Node | undefined {
  if (typeof part === 'number') return items;
  const own = properties?.[String(part)];
  return own ?? (typeof additionalProperties === 'object' ? additionalProperties : undefined);
}

function isTable({ properties, additionalProperties }: Node): boolean {
  return properties !== undefined || typeof additionalProperties === 'object';
}

function inputSchema(): Node {
  return z.toJSONSchema(configSchema, { io: 'input', unrepresentable: 'any' }) as Node;
}
