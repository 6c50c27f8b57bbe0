import { createHash } from 'node:crypto';
import type { Message } from 'grammy/types';
import { badRequest, BotApiError } from './bot-api-error.ts';
import { string } from './check-arguments.ts';
import { formatCaption } from './format-text.ts';
import { post } from './methods-messages.ts';
import type { Arguments, Files, SentFile } from './read-call.ts';
import type { World } from './world.ts';

type Method = (args: Arguments, gone: AbortSignal, files: Files) => unknown;

const largestUpload = 50 * 1024 * 1024;
const largestPhoto = 10 * 1024 * 1024;

/** Methods that upload a file into a chat, with the platform's limits. */
export function fileMethods(world: World, count: (chat: number) => void): Readonly<Record<string, Method>> {
  const send = (
    args: Arguments,
    kind: 'document' | 'photo' | 'voice',
    describe: (file: SentFile, id: string) => object,
    files: Files,
  ): Message => {
    const caption = formatCaption(string(args, 'caption'), string(args, 'parse_mode'));
    const file = uploaded(args, kind, files);
    const stored = post(world, args, count, {
      ...describe(file, createHash('sha1').update(file.bytes).digest('hex')),
      ...(caption.text === '' ? {} : { caption: caption.text }),
      ...(caption.entities.length === 0 ? {} : { caption_entities: caption.entities }),
    });
    stored.file = file;
    world.changed();
    return stored.message;
  };

  const photo = ({ bytes }: SentFile, id: string): object => {
    if (bytes.length > largestPhoto) throw badRequest('PHOTO_SAVE_FILE_INVALID');
    const { width, height } = pngSize(bytes);
    const ratio = Math.max(width, height) / Math.min(width, height);
    if (width + height > 10_000 || ratio > 20) throw badRequest('PHOTO_INVALID_DIMENSIONS');
    const size = { file_id: `P${id}`, file_unique_id: id, width, height, file_size: bytes.length };
    return { photo: [size] };
  };
  const document = ({ name, bytes }: SentFile, id: string): object => ({
    document: { file_id: `D${id}`, file_unique_id: id, file_name: name, file_size: bytes.length },
  });

  return {
    sendmediagroup: (args, _gone, files) => {
      const media = args['media'];
      if (!Array.isArray(media)) throw badRequest("can't parse media JSON object");
      if (media.length < 2 || media.length > 10)
        throw badRequest('wrong number of messages passed to sendMediaGroup, expected from 2 to 10');
      const kinds = new Set(media.map((one: Arguments) => string(one, 'type')));
      if ([...kinds].some((kind) => kind !== 'photo' && kind !== 'document'))
        throw badRequest('unknown media type');
      if (kinds.size > 1) throw badRequest("document can't be mixed with other media types");
      // Nothing of an album is there unless all of it is.
      for (const one of media as Arguments[]) {
        const kind = string(one, 'type');
        const file = uploaded({ [kind]: one['media'] }, kind, files);
        if (kind === 'photo') photo(file, '');
        formatCaption(string(one, 'caption'), string(one, 'parse_mode'));
      }
      const group = { media_group_id: createHash('sha1').update(JSON.stringify(media)).digest('hex') };
      return (media as Arguments[]).map((one) => {
        const kind = string(one, 'type') === 'photo' ? ('photo' as const) : ('document' as const);
        const { caption, parse_mode } = one;
        const describe = kind === 'photo' ? photo : document;
        return send(
          { ...args, caption, parse_mode, [kind]: one['media'] },
          kind,
          (file, id) => ({ ...describe(file, id), ...group }),
          files,
        );
      });
    },
    senddocument: (args, _gone, files) => send(args, 'document', document, files),
    sendvoice: (args, _gone, files) =>
      send(
        args,
        'voice',
        ({ bytes }, id) => {
          if (bytes.toString('latin1', 28, 36) !== 'OpusHead') throw badRequest('this is no voice note');
          const mime_type = 'audio/ogg';
          const voice = { file_id: `V${id}`, file_unique_id: id, duration: 1, mime_type };
          return { voice: { ...voice, file_size: bytes.length } };
        },
        files,
      ),
    sendphoto: (args, _gone, files) => send(args, 'photo', photo, files),
  };
}

/** Uploaded with the call: ids and addresses of files elsewhere are no use to this bot. */
function uploaded(args: Arguments, kind: string, files: Files): SentFile {
  const reference = /^attach:\/\/(.+)$/.exec(string(args, kind))?.[1] ?? '';
  const file = files.get(reference);
  if (file === undefined) throw badRequest(`there is no ${kind} in the request`);
  if (file.bytes.length > largestUpload) throw new BotApiError(413, 'Request Entity Too Large');
  if (file.bytes.length === 0) throw badRequest('file must be non-empty');
  return file;
}

/** Pictures of tests are PNG. */
function pngSize(bytes: Buffer): Readonly<{ width: number; height: number }> {
  if (bytes.subarray(1, 4).toString() !== 'PNG' || bytes.length < 24)
    throw badRequest('IMAGE_PROCESS_FAILED');
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}
