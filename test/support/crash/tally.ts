import type { Entry } from '../../../src/core/entry.ts';
import type { CrashModel } from './crash-model.ts';
import { answered, type Said } from './load.ts';
import type { Place } from './places.ts';
import type { StoredFacts } from './read-stored.ts';

/** What became of a load: each list names what is in it, so that a failure can be followed up. */
export type Tally = Readonly<{
  said: number;
  accepted: number;
  answered: number;
  /** Accepted, and the person heard nothing: must be empty (Q1, Q7). */
  lost: readonly string[];
  /** Set aside with an apology after three tries that got nowhere (Q3). */
  givenUp: readonly string[];
  /** Replies that came more than once, each further copy once. */
  repeated: readonly string[];
  /** Copies that no outbox row counts as repeats (Q6): must be empty. */
  uncounted: readonly string[];
  /** Copies on a platform where sends can be looked up (Q6): must be empty. */
  needless: readonly string[];
  /** Replies behind one to a later message of their conversation: must be empty (Q3). */
  disordered: readonly string[];
  /** Tool calls carried out again after their result was stored, or at all where they must not be (Q5): must be empty. */
  redone: readonly string[];
  /** Scripts that ran. */
  scripts: number;
  /** Calls that the model was told were cut off. */
  interrupted: readonly string[];
}>;

export function tally(
  said: readonly Said[],
  places: readonly Place[],
  stored: StoredFacts,
  model: CrashModel,
): Tally {
  const heard = new Map(places.map((place) => [place, place.heard().flatMap(answered)]));
  const copies = new Map<string, number>();
  for (const token of [...heard.values()].flat()) copies.set(token, (copies.get(token) ?? 0) + 1);
  const dead = stored.dead.flatMap((text) => text.match(/\bn\d+\b/g) ?? []);
  const counted = new Map<string, number>();
  for (const { text, repeats } of stored.repeats) {
    const tokens = answered(text);
    for (const token of tokens.length === 0 ? [text] : tokens)
      counted.set(token, (counted.get(token) ?? 0) + repeats);
  }
  const repeated = [...copies].flatMap(([token, times]) => Array.from({ length: times - 1 }, () => token));
  const platformOf = new Map(said.map(({ token, place }) => [token, place.platform]));
  return {
    said: said.length,
    accepted: said.filter(({ accepted }) => accepted()).length,
    answered: said.filter(({ token }) => copies.has(token)).length,
    lost: said
      .filter(({ token, accepted }) => accepted() && !copies.has(token) && !dead.includes(token))
      .map(({ token, place, text }) => `${token} "${text}" in ${place.name}`),
    givenUp: said.filter(({ token }) => !copies.has(token) && dead.includes(token)).map(({ token }) => token),
    repeated,
    uncounted: [...copies]
      .filter(([token, times]) => times - 1 > (counted.get(token) ?? 0))
      .map(([token]) => token),
    needless: repeated.filter((token) => platformOf.get(token) === 'slack'),
    disordered: places.flatMap((place) =>
      disorder(
        place.name,
        // Words that joined a turn are answered in its place, before what others said meanwhile (H11).
        place.heard().flatMap((text) => answered(text).slice(0, 1)),
        said.filter((each) => each.place === place),
      ),
    ),
    redone: [
      ...model.markedTwice(),
      ...stored.journals.flatMap(({ transcript, entries }) => redone(transcript, entries)),
    ],
    scripts: stored.journals
      .flatMap(({ entries }) => entries)
      .filter((entry) => entry.kind === 'tool_result' && /\bn\d+\.\d\.c\d+/.test(entry.content)).length,
    interrupted: model.interrupted(),
  };
}

/** Replies that come after one to something said later; a copy directly behind its like is no disorder. */
function disorder(place: string, tokens: readonly string[], said: readonly Said[]): readonly string[] {
  const position = new Map(said.map(({ token }, at) => [token, at]));
  const once = tokens.filter((token, at) => token !== tokens[at - 1]);
  let latest = -1;
  return once.flatMap((token) => {
    const at = position.get(token);
    if (at === undefined) return [`${token} in ${place} answers nothing said there`];
    const behind = at <= latest;
    latest = Math.max(latest, at);
    return behind ? [`${token} in ${place}`] : [];
  });
}

const onlyOnce = ['skills_run_script'];

function redone(transcript: string, entries: readonly Entry[]): readonly string[] {
  const names = new Map<string, string>();
  const started = new Set<string>();
  const finished = new Set<string>();
  const found: string[] = [];
  for (const entry of entries) {
    if (entry.kind === 'assistant') {
      for (const block of entry.content) if (block.type === 'tool_use') names.set(block.id, block.name);
    }
    if (entry.kind !== 'tool_started' && entry.kind !== 'tool_result') continue;
    const { toolUseId: id, kind } = entry;
    const again =
      finished.has(id) ||
      (kind === 'tool_started' && started.has(id) && onlyOnce.includes(names.get(id) ?? ''));
    if (again) found.push(`${kind} of ${id} (${names.get(id)}) in ${transcript}`);
    (kind === 'tool_started' ? started : finished).add(id);
  }
  return found;
}

/** Headings and one line of figures, so that runs can be compared. */
export const tallyHeadings =
  '| store | seed | messages | accepted | answered | lost | given up | repeated (uncounted) | out of order | scripts | calls redone | interrupted | kills | seconds |';

export function tallyLine(
  run: Readonly<{ store: string; seed: number; kills: number; seconds: number }>,
  counts: Tally,
): string {
  const { said, accepted, lost, givenUp, repeated, uncounted, disordered, redone, scripts, interrupted } =
    counts;
  const cells = [
    run.store,
    run.seed,
    said,
    accepted,
    counts.answered,
    lost.length,
    givenUp.length,
    `${repeated.length} (${uncounted.length})`,
    disordered.length,
    scripts,
    redone.length,
    interrupted.length,
    run.kills,
    run.seconds.toFixed(0),
  ];
  return `| ${cells.join(' | ')} |`;
}
