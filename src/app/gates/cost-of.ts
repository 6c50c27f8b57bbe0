import type { Config } from '../../config/complete-config.ts';
import { resolveModel } from '../../config/model-aliases.ts';
import type { Tokens } from '../../core/model.ts';

/** US dollars for these tokens, by the prices set for the alias; nothing where none is set. */
export function costOf({ models }: Config, alias: string, tokens: Tokens): number | undefined {
  const priced = resolveModel(models, alias);
  if (priced?.priceIn === undefined || priced.priceOut === undefined) return undefined;
  const { priceIn, priceOut, priceCacheRead = priceIn, priceCacheWrite = priceIn } = priced;
  const { input, output, cacheRead, cacheWrite } = tokens;
  return (
    (input * priceIn + output * priceOut + cacheRead * priceCacheRead + cacheWrite * priceCacheWrite) /
    1_000_000
  );
}
