import path from 'node:path';

type FileType = Readonly<{ mime: string; words: string }>;

const magics: readonly (readonly [magic: RegExp, mime: string, words: string])[] = [
  [/^89504e47/, 'image/png', 'PNG image'],
  [/^ffd8ff/, 'image/jpeg', 'JPEG image'],
  [/^47494638/, 'image/gif', 'GIF image'],
  [/^52494646.{8}57454250/, 'image/webp', 'WebP image'],
  [/^.{8}66747970(?:68656963|68656978|68657663|6d696631|6d736631)/, 'image/heic', 'HEIC image'],
  [/^.{8}66747970617669/, 'image/avif', 'AVIF image'],
  [/^.{8}667479704d3441/, 'audio/mp4', 'MPEG-4 audio'],
  [/^.{8}6674797071742020/, 'video/quicktime', 'QuickTime video'],
  [/^.{8}66747970/, 'video/mp4', 'MP4 video'],
  [/^1a45dfa3/, 'video/webm', 'WebM video'],
  [/^4f676753/, 'audio/ogg', 'Ogg audio'],
  [/^494433/, 'audio/mpeg', 'MP3 audio'],
  [/^52494646.{8}57415645/, 'audio/wav', 'WAV audio'],
  [/^25504446/, 'application/pdf', 'PDF document'],
  [/^d0cf11e0a1b11ae1/, 'application/x-ole-storage', 'Office file of an old kind, or with a password'],
  [/^504b0304/, 'application/zip', 'ZIP archive'],
  [/^1f8b/, 'application/gzip', 'gzip data'],
  [/^7f454c46/, 'application/octet-stream', 'ELF program'],
  [/^0061736d/, 'application/wasm', 'WebAssembly'],
];

const endings: Readonly<Record<string, string>> = {
  '.c': 'text/x-c',
  '.cpp': 'text/x-c++',
  '.css': 'text/css',
  '.csv': 'text/csv',
  '.docx': 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  '.epub': 'application/epub+zip',
  '.heic': 'image/heic',
  '.go': 'text/x-go',
  '.html': 'text/html',
  '.ics': 'text/calendar',
  '.java': 'text/x-java',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.jsx': 'text/jsx',
  '.md': 'text/markdown',
  '.mmd': 'text/vnd.mermaid',
  '.mp3': 'audio/mpeg',
  '.m4a': 'audio/mp4',
  '.mov': 'video/quicktime',
  '.mp4': 'video/mp4',
  '.ogg': 'audio/ogg',
  '.pptx': 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  '.py': 'text/x-python',
  '.rb': 'text/x-ruby',
  '.rs': 'text/x-rust',
  '.sh': 'text/x-shellscript',
  '.sql': 'application/sql',
  '.svg': 'image/svg+xml',
  '.toml': 'application/toml',
  '.ts': 'text/x-typescript',
  '.tsx': 'text/tsx',
  '.txt': 'text/plain',
  '.wav': 'audio/wav',
  '.webm': 'video/webm',
  '.xlsx': 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  '.xml': 'text/xml',
  '.yaml': 'application/yaml',
  '.yml': 'application/yaml',
};

export const officeTypes: ReadonlySet<string> = new Set(
  ['.docx', '.xlsx', '.pptx'].map((ending) => endings[ending] ?? ''),
);

const wordsOf: Readonly<Record<string, string>> = {
  '.docx': 'Word document',
  '.epub': 'EPUB book',
  '.pptx': 'PowerPoint presentation',
  '.xlsx': 'Excel workbook',
};

export const typeBytes = 16;

/** The type of a file. Its first bytes count more than its name, except for archives. */
export function fileType(name: string, start: Uint8Array): FileType {
  const hex = Buffer.from(start.subarray(0, typeBytes)).toString('hex');
  const [, mime, words] = magics.find(([magic]) => magic.test(hex)) ?? [];
  const ending = path.posix.extname(name).toLowerCase();
  const named = Object.hasOwn(endings, ending) ? endings[ending] : undefined;
  if (mime !== undefined && words !== undefined) {
    return mime === 'application/zip' && named !== undefined
      ? { mime: named, words: wordsOf[ending] ?? words }
      : { mime, words };
  }
  const binary = ending === '' ? 'binary data' : `binary data (${ending})`;
  return { mime: named ?? 'application/octet-stream', words: binary };
}

/** The usual ending of a type with its dot; empty if there is none. */
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
