import type { ScaleResult } from './run-scale.ts';

/** The figures of a run, a line each. */
export function describeScale(result: ScaleResult): readonly string[] {
  const { counts, files, lines, mishaps, waits, stretches, processes, conflicts, databaseMs, statements } =
    result;
  const turns = Math.max(1, counts.answered);
  const calls = statements.reduce((sum, statement) => sum + statement.calls, 0);
  return [
    `messages ${counts.said}, answered ${counts.answered}, lost ${counts.lost.length}, out of order ` +
      `${counts.disordered.length}, repeated ${counts.repeated} (explained by sends of unknown outcome: ${counts.explained})`,
    ...(files.wanted === 0
      ? []
      : [
          `files ${files.wanted}, returned ${files.returned}, lost ${files.lost.length}, mixed up ` +
            `${files.mixedUp.length}, repeated ${files.repeated} (explained: ${files.explained})`,
        ]),
    ...(lines.length === 0 ? [] : [`lines about the work that stay: ${lines.join(', ')}`]),
    ...mishaps.map(
      ({ name, who, held, firstS, medianS, lastS, polledS }) =>
        `${name} (${who}): ${held} conversations held; answered again after ${firstS.toFixed(1)} s (first), ` +
        `${medianS.toFixed(1)} s (median), ${lastS.toFixed(1)} s (last); updates asked for after ${polledS.toFixed(1)} s`,
    ),
    waitsOf(waits),
    ...stretches.map(
      ({ name, seconds, turns: some }) =>
        `${name}: ${(some / seconds).toFixed(0)} turns/s (${some} in ${seconds.toFixed(1)} s)`,
    ),
    ...processes.map(({ name, asked, sent, polls, processorMs, memoryMb, errors, takeovers }) => {
      const at = (share: number): string =>
        (memoryMb[Math.floor((memoryMb.length - 1) * share)] ?? NaN).toFixed(0);
      return (
        `process ${name}: ${asked} model calls, ${sent} sends, ${polls} polls, ${(processorMs / 1_000).toFixed(1)} s of ` +
        `processor, memory ${[0.25, 0.5, 0.75, 1].map(at).join(' · ')} MB (most ${Math.max(...memoryMb).toFixed(0)}), ` +
        `${errors.length} errors logged, ${takeovers.length} notes of queues that changed hands`
      );
    }),
    ...kindsOf(processes.flatMap(({ errors }) => errors)),
    `409 Conflict: ${conflicts}`,
    `PostgreSQL: ${(databaseMs / turns).toFixed(2)} ms of processor a turn, ` +
      (statements.length === 0
        ? 'statements not counted'
        : `${(calls / turns).toFixed(1)} statements a turn`),
  ];
}

/** People say more than they are answered at once, so a wait is more than a turn. */
function waitsOf(waits: ScaleResult['waits']): string {
  const at = (share: number): string =>
    (waits[Math.floor((waits.length - 1) * share)]?.seconds ?? NaN).toFixed(1);
  const longest = waits
    .slice(-5)
    .map(
      ({ chat, text, at, seconds }) =>
        `${seconds.toFixed(1)} (${text} in ${chat}, said after ${(at / 1_000).toFixed(0)})`,
    );
  return `seconds until an answer: half ${at(0.5)}, 99 % ${at(0.99)}, longest ${longest.join(', ')}`;
}

/** What was logged, and the error's own words, each once. */
function kindsOf(lines: readonly string[]): readonly string[] {
  const kinds = Map.groupBy(lines, (line) => {
    const [of = '', why = ''] = [/"msg":"([^"]*)/, /"err(?:or)?":(?:{.*?"message":)?"([^"]*)/].map(
      (pattern) => pattern.exec(line)?.[1],
    );
    return of === '' ? line : `${of}: ${why.slice(0, 200)}`;
  });
  return [...kinds].map(([kind, all]) => `logged ${all.length} times: ${kind}`);
}

/** The dearest statements (carried out + planned), for whoever looks for waste. */
export function describeStatements({ statements, counts }: ScaleResult, most: number): readonly string[] {
  const turns = Math.max(1, counts.answered);
  return statements
    .slice(0, most)
    .map(
      ({ calls, ms, planMs, query }) =>
        `${(ms / turns).toFixed(3)} + ${(planMs / turns).toFixed(3)} ms a turn, ${(calls / turns).toFixed(2)} calls a turn: ${query.slice(0, 160)}`,
    );
}
