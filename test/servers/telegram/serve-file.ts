import type { IncomingMessage, ServerResponse } from 'node:http';
import { badRequest } from './bot-api-error.ts';
import { string } from './check-arguments.ts';
import type { Arguments } from './read-call.ts';
import type { World } from './world.ts';

/** What goes wrong with a file: when it is asked for, or when its bytes come. */
export type DownloadTrouble =
  | 'expired'
  | 'not found'
  | 'cut'
  | 'endless'
  | 'held'
  | 'more than said'
  | 'less than said'
  | Readonly<{ redirect: string }>
  | Readonly<{ path: string }>;

export type HeldFile = Readonly<{
  bytes: Buffer;
  size: number;
  /** As it is when the file is asked for. */
  trouble(): DownloadTrouble | undefined;
}>;

const largestDownload = 20 * 1024 * 1024;

/** `getFile`, with the platform's limit. */
export function getFile(world: Pick<World, 'files'>): (args: Arguments) => unknown {
  return (args) => {
    const id = string(args, 'file_id');
    const file = world.files.get(id);
    const trouble = file?.trouble();
    if (file === undefined || trouble === 'expired')
      throw badRequest('wrong file_id or the file is temporarily unavailable');
    if (file.size > largestDownload) throw badRequest('file is too big');
    const path = typeof trouble === 'object' && 'path' in trouble ? trouble.path : `files/${id}`;
    return { file_id: id, file_unique_id: `u${id}`, file_size: file.size, file_path: path };
  };
}

/** `/file/bot<token>/<path>`: only what `getFile` named, and only to who knows the token. */
export function serveFile(
  request: IncomingMessage,
  response: ServerResponse,
  {
    world,
    token,
    downloads,
  }: Readonly<{ world: Pick<World, 'files' | 'changed'>; token: string; downloads: string[] }>,
): void {
  const [, given, id] = /^\/file\/bot([^/]+)\/files\/([^/]+)$/.exec(request.url ?? '') ?? [];
  const file = world.files.get(decodeURIComponent(id ?? ''));
  if (
    given === undefined ||
    decodeURIComponent(given) !== token ||
    file === undefined ||
    request.method !== 'GET'
  )
    return void response.writeHead(404).end('Not Found');
  downloads.push(id ?? '');
  world.changed();
  const { bytes } = file;
  const trouble = file.trouble();
  if (trouble === 'not found') return void response.writeHead(404).end('Not Found');
  if (typeof trouble === 'object' && 'redirect' in trouble)
    return void response.writeHead(302, { location: trouble.redirect }).end();
  if (trouble === 'endless') return endless(response);
  if (trouble === 'held')
    return void response.writeHead(200, { 'content-length': bytes.length }).write(bytes.subarray(0, 1));
  if (trouble === 'cut') {
    response.writeHead(200, { 'content-length': bytes.length });
    response.write(bytes.subarray(0, bytes.length / 2), () => request.socket.destroy());
    return;
  }
  const length = { 'more than said': bytes.length * 2, 'less than said': bytes.length / 2 };
  const sent =
    typeof trouble === 'string' && trouble in length
      ? Buffer.alloc(length[trouble as keyof typeof length], bytes)
      : bytes;
  response.writeHead(200, { 'content-length': sent.length }).end(sent);
}

function endless(response: ServerResponse): void {
  response.writeHead(200);
  const more = (): void => {
    if (response.destroyed) return;
    response.write(Buffer.alloc(256 * 1024), (error) => {
      if (!error) more();
    });
  };
  more();
}
