import { createHash } from 'node:crypto';

/** Short, the same for the same call: names a run, its journal and its scratch folder. */
export function runIdOf(parent: string, toolUseId: string): string {
  return createHash('sha256').update(`${parent}\n${toolUseId}`).digest('hex').slice(0, 16);
}

/** Id of the transcript that is a run's journal: everything of a conversation begins with the conversation's own. */
export function runJournal(parent: string, run: string): string {
  return `${parent}#run:${run}`;
}
