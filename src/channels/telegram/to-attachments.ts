import type { Message, PhotoSize } from 'grammy/types';
import type { Attachment } from '../../core/message.ts';

type Content = Partial<Message>;
type File = Readonly<{ file_id?: string; mime_type?: string; file_size?: number }>;

/** Nothing is fetched. */
export function toAttachments(message: Content): readonly Attachment[] {
  const found = fileOf(message);
  return found === undefined ? [] : [found];
}

function fileOf(message: Content): Attachment | undefined {
  const { photo, animation, document, audio, voice, video, video_note: round, sticker } = message;
  if (photo !== undefined) return describe('photo', 'photo.jpg', largestFor(photo), 'image/jpeg');
  // Its document is the same file.
  if (animation !== undefined) return describe('video', animation.file_name ?? 'animation', animation);
  if (document !== undefined) return describe('document', document.file_name ?? 'document', document);
  if (audio !== undefined) return describe('audio', audio.file_name ?? audio.title ?? 'audio', audio);
  if (voice !== undefined) return describe('audio', 'voice message', voice);
  if (video !== undefined) return describe('video', video.file_name ?? 'video', video);
  if (round !== undefined) return describe('video', 'video message', round);
  if (sticker !== undefined) return describe('other', `sticker ${sticker.emoji ?? ''}`.trim(), sticker);
  return undefined;
}

/** Larger ones are scaled down before a model sees them, or refused. */
const largestPicture = { side: 2000, bytes: 3_900_000 };

/** The smallest comes first. */
function largestFor(sizes: readonly PhotoSize[]): PhotoSize | undefined {
  const fitting = sizes.filter(
    ({ width, height, file_size: bytes = 0 }) =>
      Math.max(width, height) <= largestPicture.side && bytes <= largestPicture.bytes,
  );
  return fitting.at(-1) ?? sizes[0];
}

function describe(
  kind: Attachment['kind'],
  name: string,
  file: File | undefined,
  usualMime?: string,
): Attachment {
  const mime = file?.mime_type ?? usualMime;
  return {
    kind,
    name,
    mime,
    size: file?.file_size === undefined ? undefined : file.file_size,
    ref: file?.file_id === undefined ? undefined : file.file_id,
  };
}
