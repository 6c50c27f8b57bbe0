import path from 'node:path';

/** What a file is, by its first bytes and its name: `mime` for platforms, `words` for people and models. */
export type FileType = Readonly<{ mime: string; words: string }>;

const magics: readonly (readonly [magic: RegExp, mime: string, words: string])[] = [
  [/^89504e47/, 'image/png', 'PNG image'],
  [/^ffd8ff/, 'image/jpeg', 'JPEG image'],
  [/^47494638/, 'image/gif', 'GIF image'],
  [/^52494646.{8}57454250/, 'image/webp', 'WebP image'],
  [/^.{8}66747970(?:68656963|68656978|68657663|6d696631|6d736631)/, 'image/heic', 'HEIC image'],
  [/^25504446/, 'application/pdf', 'PDF document'],
  [/^504b0304/, 'application/zip', 'ZIP archive'],
  [/^1f8b/, 'application/gzip', 'gzip data'],
  [/^7f454c46/, 'application/octet-stream', 'ELF program'],
  [/^0061736d/, 'application/wasm', 'WebAssembly'],
];

const endings: Readonly<Record<string, string>> = {
  '.csv': 'text/csv',
  '.docx': 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  '.epub': 'application/epub+zip',
  '.heic': 'image/heic',
  '.html': 'text/html',
  '.ics': 'text/calendar',
  '.json': 'application/json',
  '.md': 'text/markdown',
  '.mp3': 'audio/mpeg',
  '.mp4': 'video/mp4',
  '.ogg': 'audio/ogg',
  '.pptx': 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain',
  '.wav': 'audio/wav',
  '.xlsx': 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  '.xml': 'text/xml',
};

/** Bytes from the start that suffice to tell. */
export const typeBytes = 16;

/** The type of a file by its name and its first bytes. What the bytes say counts more, but for formats that are archives inside. */
export function fileType(name: string, start: Uint8Array): FileType {
  const hex = Buffer.from(start.subarray(0, typeBytes)).toString('hex');
  const [, mime, words] = magics.find(([magic]) => magic.test(hex)) ?? [];
  const ending = path.posix.extname(name).toLowerCase();
  const named = Object.hasOwn(endings, ending) ? endings[ending] : undefined;
  if (mime !== undefined && words !== undefined) {
    return { mime: mime === 'application/zip' ? (named ?? mime) : mime, words };
  }
  const binary = ending === '' ? 'binary data' : `binary data (${ending})`;
  return { mime: named ?? 'application/octet-stream', words: binary };
}

/** The usual ending of a type's names, with its dot; empty where there is none. */
export function endingOf(mime: string): string {
  const known: Readonly<Record<string, string>> = {
    'image/gif': '.gif',
    'image/jpeg': '.jpg',
    'image/png': '.png',
    'image/webp': '.webp',
    'application/pdf': '.pdf',
  };
  return known[mime] ?? Object.keys(endings).find((ending) => endings[ending] === mime) ?? '';
}
