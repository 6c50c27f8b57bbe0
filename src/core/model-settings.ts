/** A model and where it is served. `price…` are US dollars a million tokens, `thinking` a token budget or a word. */
export type ModelSettings = Readonly<{
  model: string;
  baseUrl?: string | undefined;
  apiKey?: string | undefined;
  /** Of one answer. */
  maxTokens?: number | undefined;
  /** Tokens. */
  contextWindow?: number | undefined;
  /** Whether it sees pictures and PDFs. */
  vision?: boolean | undefined;
  thinking?: 'off' | 'adaptive' | 'between_tools' | number | undefined;
  effort?: 'low' | 'medium' | 'high' | 'xhigh' | 'max' | undefined;
  priceIn?: number | undefined;
  priceOut?: number | undefined;
  priceCacheRead?: number | undefined;
  priceCacheWrite?: number | undefined;
}>;

/** `[models]` with its aliases completed: those built in, and endpoints and keys taken over from `default`. */
export type ModelsSettings = Readonly<{
  fallback?: string;
  aliases: Readonly<Record<string, ModelSettings>>;
}>;

/** Finds what an alias, or `ALIAS/model-id` on that alias's endpoint, stands for (U2); nothing for an unknown one. */
export function resolveModel({ aliases }: ModelsSettings, name: string): ModelSettings | undefined {
  if (Object.hasOwn(aliases, name)) return aliases[name];
  const [alias = '', ...rest] = name.split('/');
  const model = rest.join('/');
  const at = model !== '' && Object.hasOwn(aliases, alias) ? aliases[alias] : undefined;
  return at && { ...endpointFor(undefined, at), model };
}

/** The alias that a name is, or that `ALIAS/model-id` begins with. */
export function aliasOf({ aliases }: ModelsSettings, name: string): string {
  return Object.hasOwn(aliases, name) ? name : (name.split('/', 1)[0] ?? name);
}

type Endpoint = Pick<ModelSettings, 'baseUrl' | 'apiKey'>;

/** Endpoint and key that a model without an endpoint of its own has from `base`. */
export function endpointFor(given: Endpoint | undefined, base: Endpoint | undefined): Endpoint {
  if (given?.baseUrl !== undefined || base === undefined) return {};
  const { baseUrl, apiKey } = base;
  return { ...(baseUrl === undefined ? {} : { baseUrl }), ...(apiKey === undefined ? {} : { apiKey }) };
}
