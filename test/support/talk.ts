import type { Person } from '../servers/telegram/person.ts';

/** Says one thing after another to the bot in private, each when the one before was answered as expected. */
export async function talk(
  person: Pick<Person, 'says' | 'dm'>,
  turns: readonly (readonly [said: string, answer: string | RegExp])[],
): Promise<void> {
  for (const [said, answer] of turns) {
    person.says(said);
    await person.dm.nextMessage(answer);
  }
}
