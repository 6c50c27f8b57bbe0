import type { Config } from '../config/complete-config.ts';
import { resolveModel } from '../core/model-settings.ts';
import { pricesOf } from '../config/model-prices.ts';
import type { Tokens } from '../core/model.ts';

/** US dollars for these tokens, by the prices set for the alias or the list price of its model; nothing where none is known. */
export function costOf({ models }: Config, alias: string, tokens: Tokens): number | undefined {
  const settings = resolveModel(models, alias);
  const prices = settings && pricesOf(settings);
  if (prices === undefined) return undefined;
  const { input, output, cacheRead, cacheWrite } = tokens;
  return (
    (input * prices.in +
      output * prices.out +
      cacheRead * prices.cacheRead +
      cacheWrite * prices.cacheWrite) /
    1_000_000
  );
}
