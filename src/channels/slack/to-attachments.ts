import type { Attachment } from '../../core/message.ts';
import type { SaidFile } from './payloads.ts';

/** The files of a Slack message. Of one from another organization only the id is known. */
export function toAttachments(files: readonly SaidFile[] | null | undefined): readonly Attachment[] {
  return (files ?? []).map((file) => {
    const mime = file.mimetype || undefined;
    return {
      kind: kindOf(mime),
      name: file.name || file.title || 'file',
      ...(mime === undefined ? {} : { mime }),
      ...(typeof file.size === 'number' ? { size: file.size } : {}),
      ...(file.id ? { ref: file.id } : {}),
    };
  });
}

function kindOf(mime: string | undefined): Attachment['kind'] {
  const family = mime?.split('/')[0];
  if (family === 'image') return 'photo';
  if (family === 'audio' || family === 'video') return family;
  return mime === undefined ? 'other' : 'document';
}
