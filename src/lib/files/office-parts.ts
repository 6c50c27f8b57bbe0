import path from 'node:path';
import type { Budget } from './document-budget.ts';
import { tokensOf, attributeOf } from './xml-tokens.ts';
import type { Zip } from './zip.ts';

type Relation = Readonly<{ type: string; target: string }>;

/** What a part of an Office file refers to, by id. `target` is the name of another part. */
export async function relationsOf(
  zip: Zip,
  part: string,
  budget: Budget,
): Promise<ReadonlyMap<string, Relation>> {
  const { dir, base } = path.posix.parse(part);
  const relations = new Map<string, Relation>();
  for (const { tag, attributes } of tokensOf((await zip.read(`${dir}/_rels/${base}.rels`)) ?? '', budget)) {
    if (tag !== 'Relationship' || attributeOf(attributes, 'TargetMode') === 'External') continue;
    const target = attributeOf(attributes, 'Target');
    const name = target.startsWith('/') ? target.slice(1) : path.posix.join(dir, target);
    relations.set(attributeOf(attributes, 'Id'), { type: attributeOf(attributes, 'Type'), target: name });
  }
  return relations;
}
