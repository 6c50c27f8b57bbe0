import { basename } from 'node:path';
import type { Diagnostic } from '../../core/codes.ts';
import { reservedSkillNames } from '../../config/skill-sections.ts';
import { slugOf } from '../../core/skill.ts';
import { deepFreeze } from '../../lib/json/json-values.ts';
import { decodeText } from '../../lib/text/text.ts';
import { readFrontMatter } from './front-matter.ts';
import { readFields } from './read-fields.ts';
import { restrictionNotKept } from './read-restrictions.ts';
import { accessFields } from './known-keys.ts';
import { bySnakeCase, readText, type FrontMap } from './read-values.ts';
import { nameLimit, type ParseResult, type SkillPlace } from './skill-definition.ts';

const notProse = /^(?:#{1,6}(?:\s|$)|<|\||!\[|(?:[-*_=]\s*){3,}$)/;

/** How many code points a description may have; a longer one is cut (F6). */
export const descriptionLimit = 1024;

/**
 * Parses a skill file. Every problem becomes a diagnostic; it never throws and evaluates nothing (F5). The result is
 * frozen.
 */
export function parseSkill(source: SkillPlace): ParseResult {
  const quick = parse(source, { positions: false });
  const hasNothingToSay = (quick.ok ? quick.definition : quick).diagnostics.length === 0;
  return hasNothingToSay ? quick : parse(source, { positions: true });
}

function parse(source: SkillPlace, options: Readonly<{ positions: boolean }>): ParseResult {
  const { path, directory } = source;
  const folder = directory === undefined ? undefined : basename(directory);
  const fallbackName = slugOf(folder ?? basename(path).replace(/\.md$/i, ''));
  const diagnostics: Diagnostic[] = [];
  const report = (diagnostic: Diagnostic): void => void diagnostics.push({ path, ...diagnostic });
  const refuse = (
    diagnostic: Diagnostic,
    more: { name?: string; accessBroken?: boolean } = {},
  ): ParseResult => {
    report(diagnostic);
    const { name = fallbackName, accessBroken = false } = more;
    return { ok: false, diagnostics, name, accessBroken };
  };

  const text = decodeText(source.bytes, source.cut);
  if (text === undefined) return refuse(error('NOT_UTF8', 'the file is not UTF-8; save it as UTF-8'));
  const read = readFrontMatter(text, options);
  read.warnings.forEach(report);
  if (!read.ok) return refuse(read.problem, { accessBroken: read.accessBroken });
  const { front, repaired, body, yamlLine } = read.file;
  for (const field of repaired) report(yamlRepaired(field));
  const { fields, twice } = bySnakeCase(front);
  const name = readName(fields, folder, fallbackName, report);
  if (name === '')
    return refuse(error('NAME_MISSING', 'neither name nor folder holds a letter or digit', 'name'));
  if (reservedSkillNames.includes(name)) {
    const message = `"${name}" is a key of [skills] in the config; give the skill another name`;
    return refuse(error('NAME_RESERVED', message, 'name'), { name });
  }
  for (const field of twice) report(error('FIELD_TWICE', `${field} is given in both spellings`, field));
  const rest = readFields(fields, (diagnostic) =>
    report({ ...diagnostic, line: diagnostic.line && diagnostic.line + yamlLine - 1 }),
  );
  const broken = brokenFields(diagnostics);
  if (broken !== undefined) return { ok: false, diagnostics, name, ...broken };
  if (body.trim() === '')
    return refuse(error('BODY_EMPTY', 'no instructions follow the front matter'), { name });
  const description = readDescription(fields, body, report);
  if (description === undefined) {
    const message = 'no description, and no paragraph of text in the body to take one from';
    return refuse(error('DESCRIPTION_MISSING', message, 'description'), { name });
  }
  return {
    ok: true,
    definition: deepFreeze({
      name,
      description,
      origin: source.origin,
      path,
      directory,
      root: source.root,
      flat: directory === undefined,
      ...rest,
      diagnostics,
    }),
  };
}

/** Undefined if no field is broken. `accessBroken` is true if one of them says who may use the skill. */
function brokenFields(diagnostics: readonly Diagnostic[]): Readonly<{ accessBroken: boolean }> | undefined {
  const broken = diagnostics.filter(({ level, code }) => level === 'error' && code !== restrictionNotKept);
  if (broken.length === 0) return undefined;
  return { accessBroken: broken.some(({ field = '' }) => accessFields.has(field)) };
}

function yamlRepaired(field: string): Diagnostic {
  const message = `${field} is no valid YAML as it stands; put it in quotes`;
  return { level: 'warning', code: 'YAML_REPAIRED', message, field };
}

function readName(
  fields: FrontMap,
  folder: string | undefined,
  fallback: string,
  report: (diagnostic: Diagnostic) => void,
): string {
  const value = fields.get('name');
  const text = value === undefined ? undefined : readText(value);
  const field = 'name';
  const warn = (code: string, message: string): void => report({ level: 'warning', code, message, field });
  const from = `"${fallback}" is taken from the path`;
  if (text === undefined || (text.ok && text.value === '')) {
    const message = `there is no name, ${from}: valid here; the Agent Skills specification wants name`;
    report({ level: 'note', code: 'NAME_MISSING', message, field });
    return fallback;
  }
  if (!text.ok) {
    warn('NAME_MISSING', `no usable name, ${from}: write name`);
    return fallback;
  }
  const written = text.value.normalize('NFKC');
  const name = slugOf(written) || fallback;
  if (name !== written) warn('NAME_INVALID', `"${written}" is used as "${name}"`);
  if ([...name].length > nameLimit) warn('NAME_TOO_LONG', `"${name}" has over ${nameLimit} characters`);
  if (folder !== undefined && folder.normalize('NFKC') !== written)
    warn('NAME_DIR_MISMATCH', `name "${written}" differs from the folder "${folder}"; the name is used`);
  return name;
}

function readDescription(
  fields: FrontMap,
  body: string,
  report: (diagnostic: Diagnostic) => void,
): string | undefined {
  const value = fields.get('description');
  const text = value === undefined ? undefined : readText(value);
  const field = 'description';
  const given = text?.ok === true && text.value !== '' ? text.value : undefined;
  const description = given ?? defaultDescription(body);
  if (description === undefined) return undefined;
  if (given === undefined) {
    const message = 'no usable description, the first paragraph of the body is used: write description';
    report({ level: 'warning', code: 'DESCRIPTION_MISSING', message, field });
  }
  const flat = description.replace(/\s+/g, ' ');
  const points = [...flat];
  if (points.length <= descriptionLimit) return flat;
  const message = `${points.length} characters, the first ${descriptionLimit} are used: shorten it`;
  report({ level: 'warning', code: 'DESCRIPTION_TRUNCATED', message, field });
  return `${points.slice(0, descriptionLimit - 1).join('')}…`;
}

function error(code: string, message: string, field?: string): Diagnostic {
  return { level: 'error', code, message, field };
}

/** The first paragraph of prose in a body, on one line (F6). Undefined if there is none. */
export function defaultDescription(body: string): string | undefined {
  let inFence: string | undefined;
  const paragraph: string[] = [];
  for (const line of body.split('\n')) {
    const text = line.trim();
    const fence = /^(?:```|~~~)/.exec(text)?.[0];
    if (fence !== undefined) {
      if (paragraph.length > 0) break;
      if (inFence === undefined) inFence = fence;
      else if (inFence === fence) inFence = undefined;
      continue;
    }
    if (inFence !== undefined) continue;
    if (text === '' || notProse.test(text)) {
      if (paragraph.length > 0) break;
      continue;
    }
    paragraph.push(text);
  }
  return paragraph.length === 0 ? undefined : paragraph.join(' ');
}
