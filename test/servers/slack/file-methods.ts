import { checkBlocks } from './block-kit.ts';
import { store, threadOf } from './chat-methods.ts';
import type { Json } from './event-payloads.ts';
import { memberRoom, refuse, structured, text, type Handler } from './method-context.ts';

/** Uploads: an address is asked for, the bytes are posted there, and only then the file is shown in a room. */
export const fileMethods: Readonly<Record<string, Handler>> = {
  'files.getUploadURLExternal': (args, { files, uploadUrl, workspace }) => {
    const length = text(args, 'length');
    if (!/^\d+$/.test(length)) return refuse('invalid_arguments');
    if (Number(length) === 0) return refuse('missing_argument');
    const id = workspace.nextId('F');
    files.set(id, { name: text(args, 'filename'), length: Number(length) });
    return { upload_url: uploadUrl(id), file_id: id };
  },
  'files.completeUploadExternal': (args, context) => {
    const given = structured(args, 'files', 'invalid_arguments');
    if (!Array.isArray(given) || given.length === 0) return refuse('invalid_arguments');
    const blocks = structured(args, 'blocks', 'invalid_blocks') as readonly Json[] | undefined;
    if (blocks !== undefined && (!Array.isArray(blocks) || checkBlocks(blocks).length > 0))
      return refuse('invalid_blocks');
    // Slack takes these in chat.postMessage only.
    if (blocks?.some(({ type }) => type === 'markdown') === true) return refuse('internal_error');
    const files = (given as Json[]).map((file) => {
      const id = text(file, 'id');
      const known = context.files.get(id);
      if (known?.bytes === undefined || known.shared === true) return refuse('file_not_found');
      if (known.bytes.length !== known.length) return refuse('file_update_failed');
      return { id, name: known.name, title: file['title'] ?? known.name, size: known.length };
    });
    if (text(args, 'channel_id') !== '') {
      const room = memberRoom(args, context, 'channel_id');
      const thread = threadOf(args, room, context);
      store(room, context, {
        text: text(args, 'initial_comment'),
        ...(blocks === undefined || text(args, 'initial_comment') !== '' ? {} : { blocks }),
        ...(thread === undefined ? {} : { threadTs: thread }),
        files,
        sentWith: args,
      });
    }
    for (const { id } of files) Object.assign(context.files.get(id) ?? {}, { shared: true });
    return { files: files.map(({ id, title }) => ({ id, title })) };
  },
  'files.info': (args, { files, sentFile }) => {
    const sent = sentFile(text(args, 'file'));
    if (sent !== undefined) return { file: sent };
    const file = files.get(text(args, 'file'));
    return file === undefined ? refuse('file_not_found') : { file: { id: args['file'], name: file.name } };
  },
};
