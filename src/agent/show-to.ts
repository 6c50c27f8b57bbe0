import { callsOf, finalText } from './next-step.ts';
import type { Entry, ActiveSkill } from '../core/entry.ts';
import { noTokens } from '../core/model.ts';

/** Which skills and tools somebody may know of (A8, A11). */
export type Viewer = Readonly<{
  /** The person, whose own turns are shown whole; undefined for everybody. */
  sender?: string;
  skill(name: string): boolean;
  tool(name: string): boolean;
}>;

type Turn = readonly Entry[];

/**
 * The entries as a viewer may see them. Others' turns with a hidden skill or tool keep only message and answer (M13).
 * From `underWay` on everything is shown. It is deterministic.
 */
export function showTo(
  entries: readonly Entry[],
  viewer: Viewer | undefined,
  underWay = beginningOfLastTurn(entries),
): readonly Entry[] {
  if (viewer === undefined) return entries;
  return [
    ...turnsOf(entries.slice(0, underWay)).flatMap((turn) => shownTurn(turn, viewer)),
    ...entries.slice(underWay),
  ];
}

export function isHiddenTurn(turn: Turn, viewer: Viewer): boolean {
  return turn.some((entry) => isEntryHidden(entry, viewer));
}

function shownTurn(turn: Turn, viewer: Viewer): Turn {
  const [first] = turn;
  const from = first?.kind === 'user' ? first.sender : undefined;
  if (from !== undefined && from === viewer.sender) return turn;
  return isHiddenTurn(turn, viewer)
    ? wordsOf(turn, viewer)
    : turn.map((entry) => withoutHiddenAsked(entry, viewer));
}

function turnsOf(entries: readonly Entry[]): readonly Turn[] {
  const turns: Entry[][] = [];
  for (const entry of entries) {
    if (entry.kind === 'summary' || beginsTurn(entry) || turns.length === 0) turns.push([]);
    turns.at(-1)?.push(entry);
  }
  return turns;
}

function isEntryHidden(entry: Entry, viewer: Viewer): boolean {
  if (entry.kind === 'assistant') return callsOf(entry).some((call) => isCallHidden(call, viewer));
  if (entry.kind !== 'user') return false;
  const { about, activeSkill } = entry;
  const knows = (name: string): boolean => viewer.skill(name) || viewer.tool(name);
  if (about !== undefined && !knows(about)) return true;
  return activeSkill !== undefined && !viewer.skill(activeSkill.skill);
}

/** Tools whose input names a skill. */
const ofOneSkill: ReadonlySet<string> = new Set([
  'use_skill',
  'skills_load',
  'skills_read_file',
  'skills_run_script',
]);

function isCallHidden({ name, input }: Readonly<{ name: string; input: unknown }>, viewer: Viewer): boolean {
  // Lists name skills that the viewer may not know; so do errors for unknown names, which list near ones.
  if (!viewer.tool(name) || name === 'skills_list' || name === 'skills_search') return true;
  if (!ofOneSkill.has(name)) return false;
  const skill = (input as Readonly<{ skill?: unknown }> | null)?.skill;
  return typeof skill !== 'string' || !viewer.skill(skill);
}

/** The message and answer of a hidden turn. A message that starts a hidden skill is hidden, too. */
function wordsOf(turn: Turn, viewer: Viewer): Turn {
  const [first] = turn;
  const answers = turn.filter((entry) => entry.kind === 'assistant');
  const last = answers.at(-1);
  const text = last?.stopReason === 'tool_use' || last?.stopReason === 'refusal' ? '' : finalText(answers);
  const started = turn.some((entry) => entry.kind === 'user' && isInvocation(entry.item));
  const said =
    first?.kind === 'user' && first.about === undefined && first.activeSkill === undefined && !started;
  const joined = turn.filter((entry) => entry.kind === 'user' && entry.joins !== undefined);
  const words = (said ? [first, ...joined] : []).map((entry) => withoutHiddenAsked(entry, viewer));
  if (last === undefined || text === '') return words;
  const { model, at } = last;
  const content = [{ type: 'text' as const, text, citations: null }];
  return [...words, { kind: 'assistant', content, stopReason: 'end_turn', tokens: noTokens, model, at }];
}

function withoutHiddenAsked(entry: Entry, viewer: Viewer): Entry {
  if (entry.kind !== 'user' || entry.asked === undefined) return entry;
  return { ...entry, asked: entry.asked.filter(({ skill }) => viewer.skill(skill)) };
}

function isInvocation(item: string | undefined): boolean {
  return item?.endsWith(invocationEnd) ?? false;
}

export const invocationEnd = '#skill';

export function activeInTurn(entries: readonly Entry[]): readonly ActiveSkill[] {
  return entries.slice(beginningOfLastTurn(entries)).flatMap((entry) => activatedBy(entry) ?? []);
}

export function activatedBy(entry: Entry): ActiveSkill | undefined {
  return entry.kind === 'user' || entry.kind === 'tool_result' ? entry.activeSkill : undefined;
}

/** The entries with instructions of earlier turns as one stable line (T6, M5). */
export function collapseActiveSkills(entries: readonly Entry[]): readonly Entry[] {
  const turn = beginningOfLastTurn(entries);
  return entries.map((entry, index) => (index < turn ? asStub(entry) : entry));
}

export function activeUnseen(entries: readonly Entry[], view: readonly Entry[]): readonly string[] {
  const seen = new Set(activeInTurn(view).map(({ skill }) => skill));
  const all = activeInTurn(entries).map(({ skill }) => skill);
  return [...new Set(all)].filter((skill) => !seen.has(skill));
}

export function asStub(entry: Entry): Entry {
  const activeSkill = activatedBy(entry);
  if (activeSkill === undefined || (entry.kind !== 'user' && entry.kind !== 'tool_result')) return entry;
  return { ...entry, content: `[Skill ${activeSkill.skill} was followed here]` };
}

/** Whether an entry begins a turn. Messages that joined a turn do not (H11). */
function beginsTurn(entry: Entry): boolean {
  return entry.kind === 'user' && entry.sender !== undefined && entry.joins === undefined;
}

export function beginningOfLastTurn(entries: readonly Entry[]): number {
  const signed = entries.findLastIndex(beginsTurn);
  return Math.max(0, signed >= 0 ? signed : entries.findLastIndex(({ kind }) => kind === 'user'));
}
