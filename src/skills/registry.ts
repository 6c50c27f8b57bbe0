import type { Diagnostic } from '../core/diagnostic.ts';
import { dirname } from 'node:path';
import type { Skill } from '../core/skill.ts';
import { renderCatalogue, type Catalogue, type CatalogueOptions } from './catalogue.ts';
import { fillArguments } from './fill-arguments.ts';
import type { LastGood } from './last-good.ts';
import { readBody, type Body } from './parse/read-body.ts';

/** A body with its arguments filled in. `substituted` is false when it had no place for them (I5). */
export type FilledBody =
  Readonly<Extract<Body, { ok: true }> & { substituted: boolean }> | Extract<Body, { ok: false }>;

/** Every skill there is, as of one reading: frozen, and swapped whole (D10, D7). */
export type Registry = Readonly<{
  get(name: string): Skill | undefined;
  has(name: string): boolean;
  /** Sorted; those that lack something on this system included. */
  names: readonly string[];
  /** Sorted by name. */
  skills: readonly Skill[];
  /** Skills of which all that they need is on this system, as `isHere` says (P3). */
  available(isHere: (skill: Skill) => boolean): readonly Skill[];
  /** Skills that a person may start by name, access aside (I4). */
  userInvocable: readonly Skill[];
  /** The catalogue of those that `isVisible` lets through (A8), without the ones no model may start. */
  catalogue(isVisible: (skill: Skill) => boolean, options: CatalogueOptions): Catalogue;
  /** The instructions as the file holds them now, with arguments, where given, and the skill's path (as its tools see it) filled in. An unknown name is a value. */
  body(name: string, args: string | undefined, skillPath?: string): Promise<FilledBody>;
  /** Everything noteworthy about roots, files and skills. */
  diagnostics: readonly Diagnostic[];
}>;

/** A frozen registry of these skills, each name once. */
export function createRegistry(
  skills: readonly Skill[],
  diagnostics: readonly Diagnostic[] = [],
  lastGood?: Pick<LastGood, 'read'>,
): Registry {
  const sorted = Object.freeze([...skills].sort((a, b) => (a.name < b.name ? -1 : 1)));
  const byName = new Map(sorted.map((skill) => [skill.name, skill]));
  return Object.freeze({
    get: (name: string) => byName.get(name),
    has: (name: string) => byName.has(name),
    names: Object.freeze(sorted.map(({ name }) => name)),
    skills: sorted,
    available: (isHere: (skill: Skill) => boolean) => sorted.filter(isHere),
    userInvocable: Object.freeze(sorted.filter(({ access }) => access.userInvocable)),
    catalogue: (isVisible: (skill: Skill) => boolean, options: CatalogueOptions) =>
      renderCatalogue(
        sorted.filter((skill) => !skill.access.disableModelInvocation && isVisible(skill)),
        options,
      ),
    async body(name: string, args: string | undefined, skillPath?: string): Promise<FilledBody> {
      const skill = byName.get(name);
      if (skill === undefined)
        return { ok: false, code: 'SKILL_NOT_FOUND', message: `there is no skill ${JSON.stringify(name)}` };
      const body = await readBody(skill, lastGood);
      if (!body.ok) return body;
      const { text, substituted } = fillArguments(body.text, args, {
        ...(skill.argumentHint === undefined ? {} : { argumentHint: skill.argumentHint }),
        skillPath: skillPath ?? skill.directory ?? dirname(skill.path),
      });
      return { ...body, text, substituted };
    },
    diagnostics: Object.freeze([...diagnostics]),
  });
}
