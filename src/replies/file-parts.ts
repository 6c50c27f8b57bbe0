import type { OutgoingPart, Part } from '../core/channel.ts';
import { SendError } from '../core/errors.ts';
import { fixed, sayIn, type Words } from '../core/texts/say.ts';
import type { OutgoingFiles } from './outgoing-files.ts';

/**
 * Tries of a file, over about a minute: then the person is told, if they can be, for the answer waits behind it. While
 * nothing at all gets through the file is tried again before the words in its place.
 */
const mostFileTries = 6;
/** Another process may have the bytes, and may be given the part the next time. */
const mostSearches = 6;

/** The part with its bytes; `later` where they are not here now, and what to say instead where they never will be. */
export async function readyPart(
  { file, ...part }: Part,
  tries: number,
  outgoing: Pick<OutgoingFiles, 'find'>,
): Promise<OutgoingPart | 'later'> {
  if (file === undefined) return part;
  const path = await outgoing.find(file.id);
  if (path !== undefined) return { ...part, file: { ...file, path } };
  return tries < mostSearches ? 'later' : withoutFile({ ...part, file }, fixed`It is no longer stored.`);
}

/** Why a file will never arrive, in words for the person; nothing where it still may, or where no file failed. */
export function whyNotSent(part: OutgoingPart, error: unknown, tries: number): Words | undefined {
  if (part.file === undefined) return undefined;
  const refused = error instanceof SendError && error.outcome === 'refused' && error.movedTo === undefined;
  if (!refused && tries < mostFileTries) return undefined;
  return (error instanceof SendError ? error.sentence : undefined) ?? fixed`It was not accepted.`;
}

/** What stands in the place of a file that can't be sent: limits are said, not hidden. */
export function withoutFile({ file, ...part }: Part, why: Words): OutgoingPart {
  if (file === undefined) return part;
  const say = sayIn(file.language);
  const name = `\`${file.name.replaceAll('`', "'")}\``;
  const said = say`I could not send the file ${name} (${say.bytes(file.size)}). ${say(why)}`;
  return { ...part, markdown: part.markdown === '' ? said : `${part.markdown}\n\n${said}` };
}
