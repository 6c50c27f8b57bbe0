import type { Code, Construct, Extension, Token } from 'micromark-util-types';
import { markdownLibrary } from './library.ts';

/**
 * Letters of scripts in which words and marks touch without spaces, with their punctuation. A half of a surrogate pair is an
 * emoji or a rare Han character.
 */
const unspaced =
  /(?![\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}])[\p{L}\p{M}\u3000-\u303f\uff00-\uffef\ud800-\udfff]/u;
const opening = /[\p{Ps}\p{Pi}]/u;
const closing = /[\p{Pe}\p{Pf}]/u;
/** What ends a phrase in any script: a mark between it and a letter closes. */
const phraseEnd = /[\p{Pe}\p{Pf}.,:;!?…%`]/u;

/**
 * CommonMark takes `**` between punctuation and a letter for an opening mark only, so `**「重要」**です` and `*(note)*text`
 * would be shown raw. Here such a mark may also close, and next to Chinese, Japanese and Korean may also open (H2).
 */
export function mindMarkEdges(gfm: Extension): Extension {
  const { attention } = markdownLibrary();
  const tilde = [gfm.text?.[126] ?? []].flat();
  return { ...gfm, text: { ...gfm.text, 42: mind(attention), 126: tilde.map(mind) } };
}

function mind(construct: Construct): Construct {
  return {
    ...construct,
    tokenize(effects, ok, nok) {
      const { previous } = this;
      let sequence: Token | undefined;
      const exit: typeof effects.exit = (type) => (sequence = effects.exit(type));
      const then = (code: Code): ReturnType<typeof ok> => {
        if (sequence !== undefined) widen(sequence, character(previous), character(code));
        return ok(code);
      };
      return construct.tokenize.call(this, { ...effects, exit }, then, nok);
    },
  };
}

function widen(sequence: Token, before: string, after: string): void {
  if (before.trim() === '' || after.trim() === '') return;
  if (/\d/.test(before) && /\d/.test(after)) {
    // 2*3*4 is a product.
    sequence._open = sequence._close = false;
    return;
  }
  const free = unspaced.test(before) || unspaced.test(after);
  if (free && !closing.test(after)) sequence._open = true;
  if ((free && !opening.test(before)) || (phraseEnd.test(before) && /\p{L}/u.test(after)))
    sequence._close = true;
}

/** Line ends and tabs are negative numbers to micromark; the end of the text is null. */
function character(code: Code): string {
  return code === null || code < 0 ? '' : String.fromCharCode(code);
}
