import { z } from 'zod';
import { fail, succeed } from '../../core/envelope.ts';
import { defineTool, readOnly, type Tool } from '../../core/tool.ts';
import { asText } from '../../lib/files/read-text.ts';
import { oneLine } from '../../lib/text/text.ts';
import { bytesAt, list, shownName } from './file-tools.ts';
import { findInScope, nameScopes, type FileScopes } from './run-folders.ts';
import type { ToolRows } from '../../core/built-in-tools.ts';
import { fixed } from '../../core/texts/say.ts';

/** How people see the tool and who is offered it (T2, T5). */
export const grepFilesRows = {
  grep_files: {
    icon: '🔎',
    title: fixed`Search of files`,
    says: fixed`Finds words in the files here.`,
    doing: fixed`looking through the files`,
    risk: 'safe',
    main: 'named',
    runs: 'named',
    inline: true,
    writes: 'nothing',
  },
} satisfies ToolRows;

/** Limits of one call: lines that it returns, characters of each line, and bytes that it reads. */
const mostLines = 100;
const lineLength = 300;
const mostBytes = 8_000_000;

const input = z.object({
  text: z.string().min(1).max(200).describe('looked for as it is, no pattern; capitals do not matter'),
  path: z.string().optional().describe('a file or folder; without it all files'),
});

/** `grep_files {text, path?}`: finds lines of text files, as `path:number: line` (T13). */
export function grepFilesTool(places: FileScopes): Tool {
  return defineTool({
    name: 'grep_files',
    row: grepFilesRows.grep_files,
    description: `Finds the lines that hold a text, in files of ${nameScopes(places)}.`,
    input,
    traits: { ...readOnly, requiresFilesystem: true },
    async run({ text, path }) {
      const all = path === undefined || path === '/';
      const paths = all ? places.map(({ seen: [name] }) => name) : [path];
      const lines: string[] = [];
      let bytes = 0;
      let cut = false;
      for (const one of paths) {
        const { files, cut: more } = filesAt(places, one);
        cut ||= more;
        for (const file of files) {
          if (lines.length > mostLines || bytes > mostBytes) break;
          const read = bytesAt(places, file);
          if (!read.ok && file === path) return fail(read.code, read.message);
          if (!read.ok) continue;
          bytes += read.bytes.length;
          const content = asText(read.bytes, file);
          if (content.ok) lines.push(...linesWith(text, content.text).map((line) => shownName(file) + line));
          else if (file === path) return fail(content.code, content.message);
        }
      }
      const found = lines.slice(0, mostLines);
      cut ||= lines.length > mostLines || bytes > mostBytes;
      return succeed(
        found.length === 0 ? 'No line of a text file there holds it.' : found.join('\n'),
        cut ? [{ code: 'CONTENT_TRUNCATED', message: 'not all was searched: name a smaller folder' }] : [],
      );
    },
  });
}

/** Files below a folder, by the paths that lead there. If the path is no folder, the path itself. */
function filesAt(places: FileScopes, path: string): Readonly<{ files: readonly string[]; cut: boolean }> {
  const found = findInScope(places, path);
  const listing = found.ok ? list(found.place, found.names) : undefined;
  if (listing === undefined)
    return { files: places.some(({ seen }) => seen[0] === path) ? [] : [path], cut: false };
  const files = listing.entries.filter(({ kind }) => kind === 'file').map((file) => `${path}/${file.path}`);
  return { files: files.map((file) => file.replace(/\/{2,}/g, '/')), cut: listing.cut };
}

function linesWith(text: string, content: string): readonly string[] {
  const wanted = text.toLowerCase();
  return content
    .split(/\r?\n/)
    .flatMap((line, index) =>
      line.toLowerCase().includes(wanted) ? [`:${index + 1}: ${oneLine(line, lineLength)}`] : [],
    );
}
