import { createRequire } from 'node:module';
import { askWith, clientOptions } from './anthropic-api.ts';
import type { Ask, Endpoint, Fetch } from './http-model.ts';
import type { ModelApi } from '../../core/model.ts';

const { resolve } = createRequire(import.meta.url);
const packages: Readonly<Partial<Record<ModelApi, string>>> = {
  bedrock: '@anthropic-ai/bedrock-sdk',
  vertex: '@anthropic-ai/vertex-sdk',
};

/** The optional package that this API needs and that is not installed. */
export function missingPackage(api: ModelApi | undefined): string | undefined {
  const wanted = api === undefined ? undefined : packages[api];
  if (wanted === undefined) return undefined;
  try {
    resolve(wanted);
    return undefined;
  } catch {
    return wanted;
  }
}

/** Makes the client of Amazon Bedrock. Without a key the default chain of AWS finds credentials. */
export async function connectBedrock({ baseUrl, apiKey, region }: Endpoint, watched: Fetch): Promise<Ask> {
  const { AnthropicBedrock } = await import('@anthropic-ai/bedrock-sdk');
  const { messages } = new AnthropicBedrock({
    ...clientOptions(watched),
    baseURL: baseUrl,
    awsRegion: region,
    apiKey,
  });
  return askWith((body, signal) => messages.create({ ...body, stream: true }, { signal }).asResponse());
}

/** Makes the client of Vertex AI. Google's application default credentials are its sign-in. */
export async function connectVertex({ baseUrl, region, project }: Endpoint, watched: Fetch): Promise<Ask> {
  const { AnthropicVertex } = await import('@anthropic-ai/vertex-sdk');
  const { messages } = new AnthropicVertex({
    ...clientOptions(watched),
    baseURL: baseUrl,
    region: region ?? process.env['CLOUD_ML_REGION'] ?? 'global',
    projectId: project,
  });
  return askWith((body, signal) => messages.create({ ...body, stream: true }, { signal }).asResponse());
}
