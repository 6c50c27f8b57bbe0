import { createHash } from 'node:crypto';
import { OperatorError } from '../../core/errors.ts';
import type { AptSources } from './apt-sources.ts';

/** What a root file system is made of: the same recipe, the same tree but for newer versions of its packages. */
export type RootRecipe = Readonly<{
  suite: string;
  sources: readonly string[];
  /** Debian packages that skills ask for, sorted, each with the names of those skills. */
  asked: readonly Readonly<{ name: string; skills: readonly string[] }>[];
  /** Everything to install beside Debian's essential packages (bash, coreutils, tar, …): the base and what is asked. */
  packages: readonly string[];
}>;

/**
 * What is in every root file system: python3 runs the `.py` scripts of skills that declare nothing, ca-certificates lets
 * programs check who they talk to, libstdc++6 is what the bot's own Node, lent to `.js` and `.ts` scripts, is linked with.
 * A shell and the usual small programs are essential in Debian and need no naming.
 */
export const basePackages: readonly string[] = ['ca-certificates', 'libstdc++6', 'python3'];

/** Debian's own rule for names, and no `-` at the end: to apt that would be a wish to remove. */
const packageName = /^[a-z0-9][a-z0-9+.-]*[a-z0-9+.]$/;

/** The union of what these skills declare, as a recipe (R6). Throws OperatorError for a name that is none. */
export function rootRecipe(
  skills: readonly Readonly<{ name: string; packages: readonly string[] }>[],
  { suite, lines }: AptSources,
): RootRecipe {
  const asking = new Map<string, string[]>();
  for (const skill of skills) {
    for (const name of new Set(skill.packages)) {
      if (!packageName.test(name)) {
        throw new OperatorError(
          `the skill ${skill.name} asks for the package ${JSON.stringify(name)}, which can't be a Debian package's name: correct \`packages\` in its SKILL.md`,
        );
      }
      asking.set(name, [...(asking.get(name) ?? []), skill.name]);
    }
  }
  const names = [...asking.keys()].toSorted();
  return {
    suite,
    sources: lines,
    asked: names.map((name) => ({ name, skills: (asking.get(name) ?? []).toSorted() })),
    packages: [...new Set([...basePackages, ...names])].toSorted(),
  };
}

/** Names a recipe: another suite, archive, package or processor gives another name; other skills that ask the same do not. */
export function recipeHash({ suite, sources, packages }: RootRecipe): string {
  const what = { form: 1, architecture: process.arch, suite, sources, packages };
  return createHash('sha256').update(JSON.stringify(what)).digest('hex').slice(0, 16);
}
