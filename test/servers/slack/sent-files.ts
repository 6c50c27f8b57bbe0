import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Json } from './event-payloads.ts';

/** A file as a person sends it, and what is wrong with it. */
export type SentFile = Readonly<{
  name: string;
  mimetype: string;
  bytes: Buffer;
  trouble?:
    | 'deleted'
    | 'tombstone'
    | 'hidden'
    | 'described oddly'
    | 'cut'
    | 'endless'
    | 'more than said'
    | 'less than said'
    | Readonly<{ redirect: string }>
    /** Slack names this address for its bytes. */
    | Readonly<{ at: string }>;
  /** The event holds its id only: it comes from another organization. */
  stub?: boolean;
  external?: boolean;
  /** Of a picture: what Slack made of it. */
  smaller?: Buffer;
}>;

export type SentFiles = Readonly<{
  /** What an event says of the file. */
  add(file: SentFile): Json;
  /** What `files.info` says; nothing where there is no such file. */
  info(id: string): Json | undefined;
  /** Serves `/files-pri/ID/download/NAME` and the smaller copies. False where the path is another one. */
  serve(path: string, request: IncomingMessage, response: ServerResponse): boolean;
}>;

/** Files of people: their bytes are given for the bot's token alone, and without `files:read` as a page to sign in on. */
export function createSentFiles(base: () => string, token: string, scopes: ReadonlySet<string>): SentFiles {
  const sent = new Map<string, SentFile>();

  const describe = (id: string, file: SentFile): Json => {
    const { name, mimetype, bytes, trouble, external = false, smaller } = file;
    if (trouble === 'tombstone') return { id, mode: 'tombstone' };
    if (trouble === 'hidden') return { id, mode: 'hidden_by_limit' };
    if (trouble === 'described oddly') return { id, mode: 'hosted', size: 'many' };
    const own = `${base()}/files-pri/${id}/download/${encodeURIComponent(name)}`;
    const url = typeof trouble === 'object' && 'at' in trouble ? trouble.at : own;
    return {
      id,
      name,
      title: name,
      mimetype,
      size: external ? 0 : bytes.length,
      mode: external ? 'external' : 'hosted',
      is_external: external,
      url_private: external ? 'https://drive.example/x' : url,
      ...(external ? {} : { url_private_download: url }),
      ...(smaller === undefined ? {} : { thumb_1024: `${base()}/files-tmb/${id}/download/1024` }),
    };
  };

  return {
    add(file) {
      const id = `F0SENT${sent.size + 1}`;
      sent.set(id, file);
      if (file.stub === true) return { id, mode: 'file_access', file_access: 'check_file_info' };
      return describe(id, file);
    },
    info(id) {
      const file = sent.get(id);
      return file === undefined || file.trouble === 'deleted' ? undefined : describe(id, file);
    },
    serve(path, request, response) {
      const [, folder, id] = /^\/files-(pri|tmb)\/([A-Z0-9]+)\/download\//.exec(path) ?? [];
      const file = sent.get(id ?? '');
      if (file === undefined) return false;
      const { trouble, bytes, mimetype } = file;
      const known = request.headers.authorization === `Bearer ${token}` && scopes.has('files:read');
      if (!known || path.includes('/signed-out/')) {
        response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
        response.end('<!DOCTYPE html><html><head><title>Sign in | Slack</title></head></html>');
        return true;
      }
      if (typeof trouble === 'object' && 'redirect' in trouble) {
        response.writeHead(302, { location: trouble.redirect }).end();
        return true;
      }
      const headers = { 'content-type': mimetype, 'content-disposition': 'attachment' };
      if (trouble === 'cut') {
        response.writeHead(200, { ...headers, 'content-length': bytes.length });
        response.write(bytes.subarray(0, 5), () => response.destroy());
        return true;
      }
      response.writeHead(200, headers);
      if (folder === 'tmb') response.end(file.smaller);
      else if (trouble === 'endless') endless(response);
      else if (trouble === 'more than said') response.end(Buffer.concat([bytes, bytes]));
      else response.end(trouble === 'less than said' ? bytes.subarray(1) : bytes);
      return true;
    },
  };
}

function endless(response: ServerResponse): void {
  const piece = Buffer.alloc(1_000_000, 'x');
  const more = (): void => {
    if (!response.destroyed) response.write(piece, more);
  };
  more();
}
