import type { MishapName } from './mishaps.ts';
import type { ScaleResult } from './run-scale.ts';

/** Work of a dead process must be taken over within so many seconds (Q9). */
const takenOverS = 30;
const diedOrHung: readonly MishapName[] = ['poller', 'worker', 'all', 'stopped', 'partition'];

/** What must not be, in words; empty when all is well. */
export function judgeScale({
  counts,
  files,
  lines,
  mishaps,
  processes,
  left,
}: ScaleResult): readonly string[] {
  const { lost, disordered, strange, repeated, explained } = counts;
  const named = (what: string, which: readonly string[]): readonly string[] =>
    which.length === 0 ? [] : [`${which.length} ${what}: ${which.slice(0, 10).join(', ')}`];
  return [
    ...named('lost', lost),
    ...named('out of order', disordered),
    ...named('strange', strange),
    ...named('files lost', files.lost),
    ...named('files mixed up', files.mixedUp),
    ...(repeated > explained ? [`${repeated - explained} repeated without a count in the outbox`] : []),
    ...(files.repeated > files.explained
      ? [`${files.repeated - files.explained} files repeated without a count in the outbox`]
      : []),
    ...(left > 0 ? [`${left} rows were not settled in the end`] : []),
    ...mishaps.filter(({ held }) => held === 0).map(({ name, who }) => `${name} (${who}) met nobody at work`),
    ...mishaps
      .filter(({ name, lastS }) => diedOrHung.includes(name) && lastS > takenOverS)
      .map(({ name, lastS }) => `${name}: the last conversation waited ${lastS.toFixed(1)} s`),
    // A kill, or a database that forgets, may fall between a line and its note.
    ...named('lines about the work stay', mishaps.length === 0 ? lines : []),
    // Without a mishap every holder lives.
    ...processes
      .filter(({ takeovers }) => mishaps.length === 0 && takeovers.length > 0)
      .map(({ name, takeovers }) => `process ${name}: ${takeovers.length} false takeovers: ${takeovers[0]}`),
    ...processes
      .filter(({ code }) => code !== 0)
      .map(({ name, code, errors }) => `process ${name} ended with ${code}: ${errors.slice(-3).join(' | ')}`),
  ];
}
