import type { Person } from '../servers/telegram/person.ts';
import type { Chat, SentMessage } from '../servers/telegram/room.ts';

/** Presses `Details` of a question in a Telegram group, and gives what this person alone sees then (U16). */
export async function openDetails(
  person: Person,
  question: Readonly<{ id: number }>,
  room: Chat,
  label = 'Details',
): Promise<SentMessage> {
  person.presses(question.id, label, room);
  return room.nextShownTo(person, /[0-9A-Z]{8}\.$/);
}
