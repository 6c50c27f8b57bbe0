import { invocationId } from '../../agent/models/anthropic-request.ts';
import type { Desk } from '../../app.ts';
import { invocationEnd } from '../../agent/show-to.ts';
import type { Entry } from '../../core/entry.ts';
import type { Tokens } from '../../core/model.ts';
import { runIdOf, runJournal } from '../../runs/run-journal.ts';
import type { Store } from '../../store/store.ts';

/** How many of the audit's newest lines are searched for decisions about calls. */
const searched = 20_000;
/** A skill that starts a skill is shown below it, to this depth. */
const deepest = 3;

/** What the audit says about a call. */
export type CallDecision = Readonly<{
  policy?: string;
  approvedBy?: string;
  risk?: string;
  ok: boolean;
  codes: readonly string[];
  durationMs: number;
}>;

/** A step of a turn, without what anybody said. Times are in Unix milliseconds. */
export type TurnStep =
  | Readonly<{ kind: 'message'; at: number; sender?: string; files: number; isUnattended: boolean }>
  | Readonly<{ kind: 'model' | 'answer' | 'summary'; at: number; model?: string; tokens: Tokens }>
  | Readonly<{
      kind: 'call';
      at: number;
      tool: string;
      /** The skill that the call starts or follows. Undefined for other calls. */
      skill?: string;
      /** `open`: it has no result yet, or it was cut off. */
      state: 'open' | 'done' | 'failed';
      /** Undefined if the audit has no line about it. */
      decision?: CallDecision;
      /** The steps of the run that it started. */
      run: readonly TurnStep[];
    }>;

export type PastTurn = Readonly<{ at: number; steps: readonly TurnStep[] }>;

/** The newest turns of a conversation's transcript, the newest last, without what anybody said (S8). */
export async function listTurns(
  conversation: string,
  most: number,
  { store, audit }: Desk,
): Promise<Readonly<{ turns: readonly PastTurn[]; earlier: number }>> {
  const { transcripts } = store;
  const transcript = await transcripts.current(conversation);
  const [{ entries }, lines] = await Promise.all([transcripts.read(transcript), audit.tail(searched)]);
  const all = turnsIn(entries.map(({ entry }) => entry));
  const shown = all.slice(-most);
  const of = { ...recordedIn(lines), transcripts };
  const turns = await Promise.all(
    shown.map(async (turn) => ({
      at: turn[0]?.at ?? 0,
      steps: await stepsOf(turn, transcript, of, 1),
    })),
  );
  return { turns, earlier: all.length - shown.length };
}

/** A turn begins with a message that joins no other. Earlier entries, such as a summary, are a turn of their own. */
function turnsIn(entries: readonly Entry[]): readonly (readonly Entry[])[] {
  const turns: Entry[][] = [];
  for (const entry of entries) {
    const begins = entry.kind === 'user' && entry.joins === undefined && !isOutcome(entry);
    const last = turns.at(-1);
    if (begins || last === undefined) turns.push([entry]);
    else last.push(entry);
  }
  return turns;
}

/** Whether the entry has the outcome of a skill that a command started. The command has an entry of its own. */
function isOutcome({ item = '' }: Extract<Entry, { kind: 'user' }>): boolean {
  return item.endsWith(invocationEnd);
}

type Of = Readonly<{
  decisions: ReadonlyMap<string, CallDecision>;
  /** Names of skills by the ids of their runs. */
  skills: ReadonlyMap<string, string>;
  transcripts: Store['transcripts'];
}>;

async function stepsOf(
  entries: readonly Entry[],
  transcript: string,
  of: Of,
  depth: number,
): Promise<readonly TurnStep[]> {
  const results = new Map(
    entries.flatMap((entry) => (entry.kind === 'tool_result' ? [[entry.toolUseId, entry] as const] : [])),
  );
  const steps: TurnStep[] = [];
  for (const entry of entries) {
    if (entry.kind === 'user' && !isOutcome(entry)) {
      steps.push({
        ...{ kind: 'message', at: entry.at, sender: entry.sender },
        ...{ files: entry.files?.length ?? 0, isUnattended: entry.unattended === true },
      });
      steps.push(...(await commandOf(entry, transcript, of, depth)));
    }
    if (entry.kind === 'summary') steps.push({ kind: 'summary', at: entry.at, tokens: entry.tokens });
    if (entry.kind !== 'assistant') continue;
    const calls = entry.content.flatMap((block) => (block.type === 'tool_use' ? [block] : []));
    const kind = calls.length === 0 ? 'answer' : 'model';
    steps.push({ kind, at: entry.at, model: entry.model, tokens: entry.tokens });
    for (const { id, name: tool, input } of calls) {
      const result = results.get(id);
      steps.push({
        ...{ kind: 'call', at: entry.at, tool, skill: skillIn(tool, input) },
        state: result === undefined ? 'open' : result.isError ? 'failed' : 'done',
        decision: of.decisions.get(id),
        run: await runOf(runJournal(transcript, runIdOf(transcript, id)), of, depth),
      });
    }
  }
  return steps;
}

/** The run of the skill that a person started by a command, which is no call of a model. */
async function commandOf(
  { item, at }: Extract<Entry, { kind: 'user' }>,
  transcript: string,
  of: Of,
  depth: number,
): Promise<readonly TurnStep[]> {
  if (item === undefined) return [];
  const id = invocationId(item);
  const decision = of.decisions.get(id);
  const run = runIdOf(transcript, id);
  const steps = await runOf(runJournal(transcript, run), of, depth);
  if (decision === undefined && steps.length === 0) return [];
  const state = decision === undefined ? 'open' : decision.ok ? 'done' : 'failed';
  return [{ kind: 'call', at, tool: 'use_skill', skill: of.skills.get(run), state, decision, run: steps }];
}

async function runOf(journal: string, of: Of, depth: number): Promise<readonly TurnStep[]> {
  if (depth >= deepest) return [];
  const { entries } = await of.transcripts.read(journal);
  const steps = await stepsOf(
    entries.map(({ entry }) => entry),
    journal,
    of,
    depth + 1,
  );
  // The task is the caller's words, and its call is shown above.
  return steps.filter(({ kind }) => kind !== 'message');
}

const skillTools: ReadonlySet<string> = new Set(['use_skill', 'skills_load']);

/** The name of a skill that a call is about. It is a name of the operator's, not anybody's words. */
function skillIn(tool: string, input: unknown): string | undefined {
  if (!skillTools.has(tool) || typeof input !== 'object' || input === null) return undefined;
  const named: Readonly<Record<string, unknown>> = { ...input };
  const name = named['skill'] ?? named['name'];
  return typeof name === 'string' && /^[\p{L}\p{N}_-]{1,80}$/u.test(name) ? name : undefined;
}

function recordedIn(lines: readonly string[]): Omit<Of, 'transcripts'> {
  const decisions = new Map<string, CallDecision>();
  const skills = new Map<string, string>();
  const word = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
  for (const text of lines) {
    if (!text.includes('"event":"tool_call')) continue;
    const line = JSON.parse(text) as Readonly<Record<string, unknown>>;
    const [call, run, skill] = [line['call'], line['run'], line['skill']].map(word);
    if (run !== undefined && skill !== undefined) skills.set(run, skill);
    if (call === undefined) continue;
    decisions.set(call, {
      ...{ policy: word(line['policy']), approvedBy: word(line['approvedBy']), risk: word(line['risk']) },
      ok: line['ok'] === true,
      codes: Array.isArray(line['codes']) ? line['codes'].map(String) : [],
      durationMs: typeof line['durationMs'] === 'number' ? line['durationMs'] : 0,
    });
  }
  return { decisions, skills };
}
