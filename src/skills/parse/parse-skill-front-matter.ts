import type { FrontMap, FrontProblem } from './front-value.ts';
import { parsePlainFrontMatter } from './parse-skill-plain.ts';
import { repairFrontMatter } from './parse-skill-repair.ts';
import { parseYamlFrontMatter } from './parse-skill-yaml.ts';

export type FrontMatter =
  | Readonly<{ ok: true; front: FrontMap; /** Keys put in quotes (F4). */ repaired: readonly string[] }>
  | Readonly<{ ok: false; problem: FrontProblem }>;

/** The YAML of a skill as strings, lists and maps; what F4 lets be repaired is repaired once (F3, F4). Never throws. */
export function parseFrontMatter(yaml: string): FrontMatter {
  const plain = parsePlainFrontMatter(yaml);
  if (plain !== undefined && !hasMapForText(plain)) return { ok: true, front: plain, repaired: [] };
  const first = parseYamlFrontMatter(yaml);
  const repair = first.ok && !hasMapForText(first.front) ? undefined : repairFrontMatter(yaml);
  if (repair !== undefined && 'code' in repair) return { ok: false, problem: repair };
  const second = repair === undefined ? undefined : parseYamlFrontMatter(repair.yaml);
  if (repair !== undefined && second?.ok) return { ok: true, front: second.front, repaired: repair.keys };
  return first.ok ? { ok: true, front: first.front, repaired: [] } : first;
}

/** `description:` with `Use when: x` on the next line is YAML, but not what was meant. */
function hasMapForText(front: FrontMap): boolean {
  return ['name', 'description'].some((key) => {
    const value = front.get(key);
    return value?.kind === 'map' && !value.flow;
  });
}
