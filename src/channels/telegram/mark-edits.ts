import type { MessageEntity } from 'grammy/types';

/** Writes something at a place of a text. With `end` it removes what is in between. */
export type Edit = Readonly<{
  at: number;
  end?: number;
  write: string;
  /** Of several edits in one place, the one with the higher rank comes first. */
  rank: number;
}>;

/** Marks that end come before marks that begin. Inner ones close first and open last. */
const closing = 1e9;
const quoting = closing - 1;
/** The rank of an address, which belongs to the words before it, inside of their marks. */
export const inFront = 2 * closing;

/**
 * Markdown marks for formatting that changes what words mean: struck out, code, quoted. Bold and the like are left out.
 * A single line that is all code has no marks, because somebody copied it, such as a code that confirms something.
 */
export function markEdits(text: string, entities: readonly MessageEntity[]): readonly Edit[] {
  return entities.flatMap((entity) => {
    const { offset } = entity;
    const words = text.slice(offset, offset + entity.length);
    const start = offset + words.length - words.trimStart().length;
    const inner = words.trim();
    const end = start + inner.length;
    if (inner === '') return [];
    const around = (open: string, close: string): readonly Edit[] => [
      { at: start, write: open, rank: end },
      { at: end, write: close, rank: closing + start },
    ];
    const isWhole = inner === text.trim() && !inner.includes('\n');
    switch (entity.type) {
      case 'strikethrough':
        return around('~~', '~~');
      case 'code': {
        const fence = fenceFor(inner, 1);
        const space = /^`|`$/.test(inner) ? ' ' : '';
        return isWhole ? [] : around(fence + space, space + fence);
      }
      case 'pre': {
        const fence = fenceFor(inner, 3);
        const before = start === 0 || text[start - 1] === '\n' ? '' : '\n';
        const after = end === text.length || text[end] === '\n' ? '' : '\n';
        return isWhole ? [] : around(`${before}${fence}${entity.language ?? ''}\n`, `\n${fence}${after}`);
      }
      case 'blockquote':
      case 'expandable_blockquote':
        return [...inner.matchAll(/^/gm)].map(({ index }) => ({
          at: start + index,
          write: '> ',
          rank: quoting,
        }));
      default:
        return [];
    }
  });
}

/** A fence that is longer than any row of backticks in the code. */
function fenceFor(code: string, least: number): string {
  const rows = [...code.matchAll(/`+/g)].map(([row]) => row.length + 1);
  return '`'.repeat(Math.max(least, ...rows));
}
