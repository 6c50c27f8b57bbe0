import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { decideSkill, type SkillUse } from '../src/access/decide-skill.ts';
import type { Skill } from '../src/core/skill.ts';
import { listSkillFiles } from '../src/skills/skill-files.ts';
import { createSkillsSearch } from '../src/tools/built-in/skill-lookup.ts';
import { makeSkill } from '../test/support/make-skill.ts';
import { inAGroup, toolContext } from '../test/support/tool-context.ts';

/** Milliseconds of each call, side by side with the least that any program would have to do. */
export type LookUpTimes = Readonly<{ skillet: readonly number[]; floor: readonly number[] }>;

const rounds = 200;
const words =
  'reads writes checks reports invoices tickets calendars weather deploys releases notes images tables mail charts pages'.split(
    ' ',
  );

/** `skills_search` as the main agent calls it, access decided for each skill; the floor looks for the words and does nothing else. */
export async function searchTimes(count: number): Promise<LookUpTimes> {
  const skills = Array.from({ length: count }, (_, index) =>
    makeSkill(`skill-${index}`, { description: describe(index), tags: [word(index), word(index * 3)] }),
  );
  const rules = { enabled: true, defaults: {}, skills: new Map() };
  const use: SkillUse = {
    chatType: 'group',
    chatIds: ['telegram:-1'],
    external: false,
    sender: 'telegram:42',
    by: 'model',
  };
  const visible = (): readonly Skill[] => skills.filter((skill) => decideSkill(skill, rules, use).allowed);
  const search = createSkillsSearch()(visible);
  const query = 'deploys invoices skill-17';
  const context = toolContext({ requester: inAGroup });
  const terms = query.split(' ');
  return {
    skillet: await timed(() => search.run({ query }, context)),
    floor: await timed(async () =>
      skills.filter(({ name, description, tags }) => {
        const text = `${name} ${description} ${tags.join(' ')}`.toLowerCase();
        return terms.some((term) => text.includes(term));
      }),
    ),
  };
}

/** The file index of a skill; the floor reads its folders with Node's own recursive listing. */
export async function indexTimes(count: number): Promise<LookUpTimes> {
  const directory = await mkdtemp(path.join(tmpdir(), 'skillet-bench-index-'));
  try {
    for (let index = 0; index < count; index++) {
      const folder = path.join(directory, word(index), String(index % 7));
      await mkdir(folder, { recursive: true });
      await writeFile(path.join(folder, `file-${index}.md`), 'x');
    }
    return {
      skillet: await timed(async () => listSkillFiles({ directory })),
      floor: await timed(async () => readdirSync(directory, { recursive: true, withFileTypes: true })),
    };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function timed(work: () => Promise<unknown>): Promise<readonly number[]> {
  const times: number[] = [];
  for (let round = -20; round < rounds; round++) {
    const began = performance.now();
    await work();
    if (round >= 0) times.push(performance.now() - began);
  }
  return times;
}

function word(index: number): string {
  return words[index % words.length] ?? '';
}

/** About as long as what public skills say of themselves. */
function describe(index: number): string {
  return Array.from({ length: 32 }, (_, at) => word(index * (at + 1) + at)).join(' ');
}
