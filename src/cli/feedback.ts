import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { OperatorError } from '../core/errors.ts';
import type { Skill } from '../core/skill.ts';
import { skilletHere } from '../core/skillet-here.ts';
import { oneLine, printable } from '../lib/text/text.ts';
import { shownVersion } from '../operator/look/skill-quality.ts';
import type { OutputOf } from '../operator/operations.ts';
import { writeSkillCase } from '../skills/skill-cases.ts';
import { testsFolder } from '../skills/skill-version.ts';
import { marker } from '../skills/written-marker.ts';
import { askBot } from './ask-bot.ts';
import type { SharedOptions } from './command.ts';
import { agree, inMinutes, isYes, print, printJson, printList, printText } from './console.ts';
import { openOperatorConfig } from './open-config.ts';
import { noSuchSkill, skillsHere, writtenApprovals } from './skills-here.ts';

type Filter = SharedOptions & Readonly<{ skill: string | undefined; down: boolean | undefined }>;
type Row = OutputOf<'feedback list'>[number];
type Case = OutputOf<'feedback case'>;

const none = 'Nobody has rated an answer yet.';

/** Prints thumbs under answers, the newest last. */
export async function listFeedback(given: Filter): Promise<void> {
  const rows = await feedbackOf(given);
  if (given.json === true) return printJson(rows);
  printList(rows.map(lineOf), none);
}

/** Prints thumbs as lines of JSON. That there are none is said on standard error, so that a file stays empty. */
export async function exportFeedback(given: Filter): Promise<void> {
  const rows = await feedbackOf(given);
  for (const row of rows) print(JSON.stringify(row));
  if (rows.length === 0) process.stderr.write(`${none}\n`);
}

function feedbackOf({ config, skill, down }: Filter): Promise<readonly Row[]> {
  return askBot(config, 'feedback list', { skill, thumb: down === true ? 'down' : undefined });
}

function lineOf({ id, at, thumb, sender, conversation, skills, reason }: Row): string {
  const used = skills.map(({ name, version }) => `${name} ${version.slice(0, shownVersion)}`).join(', ');
  const words = reason === undefined ? '' : `  ${oneLine(reason, 300)}`;
  return `${id}  ${inMinutes(at)}  ${thumb.padEnd(4)}  ${sender}  ${conversation}  ${used || '(no skill)'}${words}`;
}

type ToTest = SharedOptions &
  Readonly<{
    id: string;
    skill: string | undefined;
    message: string | undefined;
    contains: readonly string[] | undefined;
    lacks: readonly string[] | undefined;
    yes: boolean | undefined;
  }>;

/** Shows a thumb down as a test case, and writes that into the folder of its skill. Exit code 1 after a no (U17). */
export async function feedbackToTest(given: ToTest): Promise<void> {
  const { id, config: flag, yes } = given;
  const found = await askBot(flag, 'feedback case', id);
  if (found.thumb === 'up')
    throw new OperatorError(`${id} is a thumb up: only a thumb down can become a test`);
  const config = await openOperatorConfig(flag);
  const registry = await skillsHere(config, () => writtenApprovals(config, flag));
  const name = skillOf(found, given);
  const skill = registry.get(name);
  if (skill === undefined) throw noSuchSkill(name, registry.names);
  const folder = writableFolder(skill);
  const text = caseText(found, name, given);
  const file = path.join(folder, testsFolder, `feedback-${id}.toml`);
  if (existsSync(file)) throw new OperatorError(`${file} is there already: change it, or remove it first`);
  const shown = path.relative('', file);
  printText(text);
  for (const line of warningsOf(found, skill)) print(line);
  const answer = await agree(`Write this to ${shown}?`, yes === true);
  if (!isYes(answer, { unasked: 'There is nobody to ask here: add --yes.', no: 'Nothing was written.' }))
    return;
  await write(file, text);
  await askBot(flag, 'feedback tested', { id, skill: name, file: path.basename(file) });
  print(`${shown} is written. \`${skilletHere()} skill test ${name}\` fails until the skill is better.`);
  if (existsSync(path.join(folder, marker)))
    print(`The bot wrote this skill, so enable it again: \`${skilletHere()} skill enable ${name}\`.`);
}

function skillOf({ id, skills }: Case, { skill }: ToTest): string {
  if (skill !== undefined) return skill;
  const [first, second] = skills;
  if (first !== undefined && second === undefined) return first.name;
  const used = skills.map(({ name }) => name).join(', ');
  throw new OperatorError(
    first === undefined
      ? `no skill was used for the answer of ${id}: name the one that should have been, with --skill NAME`
      : `several skills were used for the answer of ${id}: name one with --skill (${used})`,
  );
}

/** The folder of a skill that belongs to the operator. Throws OperatorError for the skills of others. */
function writableFolder({ name, origin, directory, pin }: Skill): string {
  const copy = `Copy its folder to skills/${name} in your workspace, which then takes its place, and try again.`;
  if (pin !== undefined)
    throw new OperatorError(
      `${name} is installed from ${pin.source}, and only its own files are used. ${copy}`,
    );
  if (origin === 'bundled' || origin === 'integration')
    throw new OperatorError(
      `${name} is not yours: it comes with ${origin === 'bundled' ? 'Skillet' : 'a plugin'}. ${copy}`,
    );
  if (directory === undefined)
    throw new OperatorError(
      `${name} is a single file: move it to ${name}/SKILL.md, so that tests have a place`,
    );
  return directory;
}

function caseText(found: Case, skill: string, { id, message, contains = [], lacks = [] }: ToTest): string {
  const said = message ?? found.question;
  if (said === undefined)
    throw new OperatorError(
      `somebody else had asked, so their question is not kept: write what the person says in the test with --message TEXT`,
    );
  const isFree = contains.length === 0 && lacks.length === 0;
  if (isFree && found.line === undefined)
    throw new OperatorError(
      `say what a right answer has in it with --contains TEXT, or not with --lacks TEXT`,
    );
  const unwanted = isFree && found.line !== undefined ? [found.line] : lacks;
  const version = found.skills.find(({ name }) => name === skill)?.version.slice(0, shownVersion);
  const name = `feedback ${id}: ${oneLine(said, 60)}`;
  const comments = [
    `From feedback ${id}${version === undefined ? '' : `, a thumb down for version ${version}`}.`,
    ...(found.reason === undefined ? [] : [`What was wrong: ${oneLine(found.reason, 1_000)}`]),
  ];
  return writeSkillCase(
    { name, message: said, skill, answer: { contains, lacks: unwanted } },
    comments.map(printable),
  );
}

function warningsOf({ from, isPrivate, answer }: Case, { access }: Skill): readonly string[] {
  return [
    ...(answer === undefined ? [] : [`The answer was: ${printable(oneLine(answer, 500))}`]),
    'Read it: names of people are not found by themselves. The test is kept with the skill, for all who read it.',
    ...(from === undefined
      ? []
      : [`These are not only words of the person who rated: they are from ${from}.`]),
    ...(isPrivate || access.sensitive ? ['Its conversation held private data.'] : []),
  ];
}

async function write(file: string, text: string): Promise<void> {
  try {
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, text, { flag: 'wx' });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    throw new OperatorError(
      `${file} could not be written (${String(error.code)}): run this as the user who owns the skill`,
      {
        cause: error,
      },
    );
  }
}
