import { connects } from '../../src/agent/models/create-models.ts';
import {
  createHttpModel,
  type HttpModelDeps,
  type HttpModelSettings,
} from '../../src/agent/models/http-model.ts';
import type { Model, ModelApi } from '../../src/core/model.ts';

export type ModelAt = Readonly<{
  alias: string;
  model: string;
  api?: ModelApi;
  endpoint: Readonly<{
    baseUrl: string;
    apiKey?: string | undefined;
    silenceMs?: number;
    region?: string;
    project?: string;
  }>;
}> &
  Omit<HttpModelSettings, 'alias' | 'api' | 'endpoint' | 'silenceMs'>;

/** A model at a test server, made as `createModels` makes it. */
export function httpModelAt(
  { model, api = 'anthropic', endpoint: { silenceMs, ...place }, ...more }: ModelAt,
  deps: Omit<HttpModelDeps, 'connect'>,
): Model {
  const endpoint = { name: model, ...place };
  const made = { ...more, api, endpoint, ...(silenceMs === undefined ? {} : { silenceMs }) };
  return createHttpModel(made, { connect: connects[api], ...deps });
}
