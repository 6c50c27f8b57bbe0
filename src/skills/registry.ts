import { dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Diagnostic } from '../core/codes.ts';
import { slugOf, type Skill } from '../core/skill.ts';
import { asTypedHere } from '../core/skillet-here.ts';
import { renderCatalogue, type Catalogue, type CatalogueOptions } from './catalogue.ts';
import type { LastGood } from './last-good.ts';
import { readBody, type Body } from './read-body.ts';

/**
 * Matches the places for arguments and paths. It leaves out money (`$5,000`, `$1.50`) and other words (`$1st`,
 * `$ARGUMENTS_X`).
 */
const placeholder =
  /(\\?)(?:(\$ARGUMENTS)(?!\w)(?:\[(\d{1,9})\])?|\$(\d{1,9})(?![\w]|[.,]\d)|\{baseDir\}|\$\{CLAUDE_SKILL_DIR\}|<skill_dir>)/g;

/** Instructions with arguments filled in. `substituted`: the body had a place for arguments (I5). */
export type FilledBody =
  Readonly<Extract<Body, { ok: true }> & { substituted: boolean }> | Extract<Body, { ok: false }>;

/** All skills of one reading. It is frozen, and a new reading replaces it as a whole (D10, D7). */
export type Registry = Readonly<{
  /** Finds a skill by its name in any spelling: `pdf_editing` is `pdf-editing`. */
  get(name: string): Skill | undefined;
  has(name: string): boolean;
  names: readonly string[];
  skills: readonly Skill[];
  /** Skills that can run on this system; `isHere` says whether it has what a skill needs (P3). */
  available(isHere: (skill: Skill) => boolean): readonly Skill[];
  /** Skills that people may start by name, if access allows it (I4). */
  userInvocable: readonly Skill[];
  /** The catalogue of skills that a model may start and that are visible to whom it is for (A8). */
  catalogue(isVisible: (skill: Skill) => boolean, options: CatalogueOptions): Catalogue;
  /**
   * The current instructions with arguments filled in. `skillPath` is the skill's folder as tools see it. An unknown
   * name gives a value, not an error.
   */
  body(
    name: string,
    args: string | undefined,
    reading?: Readonly<{ skillPath?: string | undefined; maxBytes?: number }>,
  ): Promise<FilledBody>;
  diagnostics: readonly Diagnostic[];
}>;

/** Makes a frozen registry of these skills, in which each name occurs once. */
export function createRegistry(
  skills: readonly Skill[],
  diagnostics: readonly Diagnostic[] = [],
  lastGood?: LastGood,
): Registry {
  const sorted = Object.freeze([...skills].sort((a, b) => (a.name < b.name ? -1 : 1)));
  const byName = new Map(sorted.map((skill) => [skill.name, skill]));
  const named = (name: string): Skill | undefined => byName.get(name) ?? byName.get(slugOf(name));
  const catalogueOf = rememberLast(renderCatalogue);
  return Object.freeze({
    get: named,
    has: (name: string) => byName.has(name),
    names: Object.freeze(sorted.map(({ name }) => name)),
    skills: sorted,
    available: (isHere: (skill: Skill) => boolean) => sorted.filter(isHere),
    userInvocable: Object.freeze(sorted.filter(({ access }) => access.userInvocable)),
    catalogue: (isVisible: (skill: Skill) => boolean, options: CatalogueOptions) =>
      catalogueOf(
        sorted.filter((skill) => !skill.access.disableModelInvocation && isVisible(skill)),
        options,
      ),
    async body(name, args, { skillPath, maxBytes } = {}) {
      const skill = named(name);
      if (skill === undefined)
        return { ok: false, code: 'SKILL_NOT_FOUND', message: `there is no skill ${JSON.stringify(name)}` };
      const body = await readBody(skill, lastGood, maxBytes);
      if (!body.ok) return body;
      // Bundled skills show commands of the bot itself.
      const written = skill.origin === 'bundled' ? asTypedHere(body.text) : body.text;
      const { text, substituted } = fillArguments(written, args, {
        argumentHint: skill.argumentHint,
        skillPath: skillPath ?? skill.directory ?? dirname(skill.path),
      });
      return { ...body, text, substituted };
    },
    diagnostics: Object.freeze([...diagnostics]),
  });
}

function rememberLast(make: typeof renderCatalogue): typeof renderCatalogue {
  let last:
    Readonly<{ skills: Parameters<typeof make>[0]; options: CatalogueOptions; made: Catalogue }> | undefined;
  return (skills, options) => {
    const isSame =
      last?.skills.length === skills.length &&
      skills.every((skill, index) => skill === last?.skills[index]) &&
      isDeepStrictEqual(options, last.options);
    if (last === undefined || !isSame) last = { skills, options, made: make(skills, options) };
    return last.made;
  };
}

type Filled = Readonly<{
  text: string;
  substituted: boolean;
}>;

/**
 * Fills in `$ARGUMENTS`, `$ARGUMENTS[N]`, `$N` and the skill's path in one pass (I5), so that filled text is not
 * searched again. A missing index, or missing `args`, leaves the place as it is written.
 */
export function fillArguments(
  body: string,
  args: string | undefined,
  options: Readonly<{
    argumentHint?: string;
    skillPath: string;
  }>,
): Filled {
  const words = args === undefined ? [] : splitArguments(args);
  const takesIndexes = options.argumentHint !== undefined || /(?<!\\)\$ARGUMENTS(?!\w)/.test(body);
  let substituted = false;
  const text = body.replace(
    placeholder,
    (written: string, escape: string, all?: string, index?: string, bare?: string) => {
      const isIndex = bare !== undefined;
      if (isIndex && !takesIndexes) return written;
      if (args === undefined && (isIndex || all !== undefined)) return written;
      if (escape !== '') return written.slice(1);
      if (all === undefined && !isIndex) return options.skillPath;
      const position = index ?? bare;
      const value = position === undefined ? args : words[Number(position)];
      if (value === undefined) return written;
      substituted = true;
      return value;
    },
  );
  return { text, substituted };
}

/**
 * Splits arguments like a shell: quotes and backslashes count, an open quote ends with the text. Nothing is expanded.
 */
export function splitArguments(text: string): readonly string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote: string | undefined;
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at);
    const next = text.charAt(at + 1);
    const escapes = quote === undefined ? next !== '' : quote === '"' && (next === '"' || next === '\\');
    if (character === '\\' && escapes) {
      word = (word ?? '') + next;
      at += 1;
    } else if (quote !== undefined) {
      if (character === quote) quote = undefined;
      else word = (word ?? '') + character;
    } else if (character === '"' || character === "'") {
      quote = character;
      word ??= '';
    } else if (/\s/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? '') + character;
  }
  return word === undefined ? words : [...words, word];
}
