import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { slackUserGroups } from '../config/people-groups.ts';
import { OperatorError } from '../core/errors.ts';
import { allTools } from '../features/list.ts';
import { parseJson } from '../lib/json/json-values.ts';
import { oneLine } from '../lib/text/text.ts';
import {
  compareJudgements,
  type Compared,
  type Difference,
} from '../operator/rehearse/compare-judgements.ts';
import { judgeRecord, storedJudgement, type Judgement } from '../operator/rehearse/judge-record.ts';
import { rehearsalRecord, type RehearsalRecord } from '../operator/rehearse/rehearsal-record.ts';
import { askBot } from './ask-bot.ts';
import { sinceWhen } from './audit.ts';
import type { SharedOptions } from './command.ts';
import { print, printJson, printList } from './console.ts';
import { openOperatorConfig } from './open-config.ts';
import { quietLog, skillsHere, writtenApprovals } from './skills-here.ts';

type Given = SharedOptions &
  Readonly<{
    since: string;
    version?: string;
    record?: string;
    model?: string;
    sample?: number;
    private?: boolean;
    yes?: boolean;
  }>;

/** Exit code if something would be decided otherwise. It differs from 1, which an error has. */
const differs = 3;

/**
 * Judges what was done by a new config or version, and says what would be decided otherwise. `--config` is the new
 * config; the one in force is found as without it. Nothing runs (L20).
 */
export async function rehearse(given: Given): Promise<void> {
  const { config: flag, json, version, record: recordFile } = given;
  const { model, sample } = given;
  if (model !== undefined && sample !== undefined && version === undefined)
    return (await import('./rehearse-answers.ts')).rehearseAnswers({ ...given, model, sample });
  if (model !== undefined || sample !== undefined || given.private === true || given.yes === true)
    throw new OperatorError(
      'Answering again needs --model ALIAS and --sample NUMBER, and no --version: its config names the models of this one.',
    );
  if (recordFile !== undefined) return printJson(await judgeBy(flag, readRecord(recordFile)));
  const since = sinceWhen(given.since, Date.now());
  const record = rehearsalRecord.parse(await askBot(undefined, 'rehearse', since));
  const before = await judgeBy(undefined, record);
  const after = version === undefined ? await judgeBy(flag, record) : judgeByVersion(version, flag, record);
  const compared = compareJudgements(record, before, after);
  const unread = slackUserGroups(await openOperatorConfig(flag));
  if (compared.differences.length + compared.skills.length > 0) process.exitCode = differs;
  if (json === true) return printJson({ since, ...compared, unread });
  printList(report(since, compared));
  if (unread.length > 0)
    print(`Not counted: ${unread.join(', ')}. Only a running bot asks Slack who is in a user group.`);
}

async function judgeBy(flag: string | undefined, record: RehearsalRecord): Promise<Judgement> {
  const config = await openOperatorConfig(flag);
  const registry = await skillsHere(config, () => writtenApprovals(config, flag));
  return judgeRecord(record, { config, registry, builtInTools: allTools(), log: quietLog });
}

function readRecord(file: string): RehearsalRecord {
  const read = rehearsalRecord.safeParse(parseJson(readFileSync(file, 'utf8')));
  if (read.success) return read.data;
  throw new OperatorError(
    `${file} is no record that this version can judge: let both versions be this one or newer`,
  );
}

/** Has another checkout judge the record, in a process of its own. */
function judgeByVersion(folder: string, flag: string | undefined, record: RehearsalRecord): Judgement {
  const program = path.resolve(folder, 'bin/skillet.js');
  if (!existsSync(program))
    throw new OperatorError(`${program} is not there: name the folder of a checkout or an unpacked package`);
  const scratch = mkdtempSync(path.join(tmpdir(), 'skillet-rehearse-'));
  try {
    const file = path.join(scratch, 'record.json');
    writeFileSync(file, JSON.stringify(record), { mode: 0o600 });
    const args = ['rehearse', '--record', file, '--json', ...(flag === undefined ? [] : ['--config', flag])];
    const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
      encoding: 'utf8',
      maxBuffer: 1_000_000_000,
    });
    const read = storedJudgement.safeParse(status === 0 ? parseJson(stdout) : undefined);
    if (read.success && read.data.verdicts.length === record.cases.length) return read.data;
    const why = oneLine(stderr.trim() || stdout.trim(), 500);
    throw new OperatorError(`the version in ${path.resolve(folder)} could not judge the record: ${why}`);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

const words = { allowed: 'allowed', refused: 'refused', ask: 'asked about' } as const;

function report(since: string, of: Compared): readonly string[] {
  const { judged, notJudged, differences, skills, usd, changedSince } = of;
  const { message, skill, call, press } = judged;
  const absent = Object.entries(notJudged);
  return [
    `Judged since ${since.slice(0, 16)}Z: ${some(message, 'message')}, ${some(skill, 'use')} of skills, ${some(call, 'tool call')}, ${some(press, 'answer')} to questions.`,
    ...(differences.length === 0 ? ['Nothing would be decided otherwise.'] : []),
    ...differences.flatMap(differenceLines),
    ...skills.map(
      ({ who, more, fewer }) =>
        `Other skills for ${who}:${more.map((name) => ` +${name}`).join('')}${fewer.map((name) => ` -${name}`).join('')}`,
    ),
    `Cost of the tokens of that time: ${dollars(usd.before)} before, ${dollars(usd.after)} now.${usd.unpriced === 0 ? '' : ` Without ${usd.unpriced} tokens of models that have no price.`}`,
    ...absent.map(([why, count]) => `Not judged: ${count} ${why}.`),
    ...(changedSince === 0
      ? []
      : [`${changedSince} of these the config in force already decides otherwise than it was decided then.`]),
    'The record has no words: risks of calls are those of that time, and what was removed by retention or forget is not in it.',
    'It does not say if a chat was shared with another company, if a conversation held private data, or who may use an MCP server. Messages that were refused are in it once an hour for each person.',
  ];
}

function differenceLines({ now, before, code, reason, rule, count, first }: Difference): readonly string[] {
  const { kind, who, at } = first;
  const what =
    kind === 'call'
      ? some(count, `${first.tool} call`)
      : kind === 'skill'
        ? `${some(count, 'use')} of ${first.skill}`
        : kind === 'press'
          ? `${some(count, 'answer')} to questions`
          : some(count, 'message');
  return [
    `${what} would now be ${words[now]} (${words[before]} before): ${code === undefined ? '' : `${code}: `}${reason}`,
    `  by ${rule}; the first: ${who.sender} in ${who.channel}:${who.chat} at ${at.slice(0, 16)}Z`,
  ];
}

function some(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

function dollars(usd: number): string {
  return `$${usd.toFixed(2)}`;
}
