import type { Message } from 'grammy/types';
import type { Attachment } from '../../core/message.ts';

type Content = Partial<Message>;

/** What a message carries besides text, described: nothing is fetched. Things without a file are told by their name. */
export function toAttachments(message: Content): readonly Attachment[] {
  const found = fileOf(message) ?? thingOf(message);
  return found === undefined ? [] : [found];
}

function fileOf(message: Content): Attachment | undefined {
  const { photo, animation, document, audio, voice, video, video_note: round, sticker } = message;
  if (photo !== undefined) return describe('photo', 'photo.jpg', photo.at(-1), 'image/jpeg');
  // An animation comes with a document that is the same file.
  if (animation !== undefined) return describe('video', animation.file_name ?? 'animation', animation);
  if (document !== undefined) return describe('document', document.file_name ?? 'document', document);
  if (audio !== undefined) return describe('audio', audio.file_name ?? audio.title ?? 'audio', audio);
  if (voice !== undefined) return describe('audio', 'voice message', voice);
  if (video !== undefined) return describe('video', video.file_name ?? 'video', video);
  if (round !== undefined) return describe('video', 'video message', round);
  if (sticker !== undefined) return describe('other', `sticker ${sticker.emoji ?? ''}`.trim(), sticker);
  return undefined;
}

function thingOf({ venue, location, contact, poll, dice }: Content): Attachment | undefined {
  if (venue !== undefined) return { kind: 'other', name: `place: ${venue.title}, ${venue.address}` };
  if (location !== undefined) {
    return { kind: 'other', name: `location: ${location.latitude}, ${location.longitude}` };
  }
  if (contact !== undefined) {
    const name = [contact.first_name, contact.last_name].filter(Boolean).join(' ');
    return { kind: 'other', name: `contact: ${name}, ${contact.phone_number}` };
  }
  if (poll !== undefined) {
    return { kind: 'other', name: `poll: ${poll.question} (${poll.options.map((o) => o.text).join(' / ')})` };
  }
  if (dice !== undefined) return { kind: 'other', name: `${dice.emoji} ${dice.value}` };
  return undefined;
}

function describe(
  kind: Attachment['kind'],
  name: string,
  file: Readonly<{ mime_type?: string; file_size?: number }> | undefined,
  usualMime?: string,
): Attachment {
  const mime = file?.mime_type ?? usualMime;
  return {
    kind,
    name,
    ...(mime === undefined ? {} : { mime }),
    ...(file?.file_size === undefined ? {} : { size: file.file_size }),
  };
}
