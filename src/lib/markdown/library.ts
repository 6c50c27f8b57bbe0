import { createRequire } from 'node:module';
import type * as From from 'mdast-util-from-markdown';
import type * as To from 'mdast-util-to-markdown';
import type * as Gfm from 'mdast-util-gfm';
import type * as Commonmark from 'micromark-core-commonmark';
import type * as GfmSyntax from 'micromark-extension-gfm';
import { once } from '../async/mutex.ts';

type Library = typeof From & typeof To & typeof Gfm & typeof GfmSyntax & Pick<typeof Commonmark, 'attention'>;

const require = createRequire(import.meta.url);

/** Loaded when it is first used, because it has 190 files and takes 0.1 s. */
export const markdownLibrary = once((): Library => ({
  ...(require('mdast-util-from-markdown') as typeof From),
  ...(require('mdast-util-to-markdown') as typeof To),
  ...(require('mdast-util-gfm') as typeof Gfm),
  ...(require('micromark-extension-gfm') as typeof GfmSyntax),
  attention: (require('micromark-core-commonmark') as typeof Commonmark).attention,
}));
