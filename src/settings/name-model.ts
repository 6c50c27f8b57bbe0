import { resolveModel } from '../core/model-settings.ts';
import type { Config } from '../config/complete-config.ts';
import { inlineCode } from '../lib/text/inline-code.ts';

/** A model as people read it: its id, and the alias that is set to it. */
export function nameModel(models: Config['models'], alias: string): string {
  const id = resolveModel(models, alias)?.model ?? alias;
  return alias.endsWith(id) ? inlineCode(alias) : `${inlineCode(id)} (${alias})`;
}
