import { askWith, clientOptions } from './anthropic-api.ts';
import type { Ask, Endpoint, Fetch } from './http-model.ts';
import { ServerFault } from './model-failure.ts';
import { installLine, missingPackage } from './model-place.ts';
import type { ModelApi } from '../../core/model.ts';

/** A package that is gone since the start is a fault that only the operator can fix. */
function needPackage(api: ModelApi): void {
  const name = missingPackage(api);
  if (name === undefined) return;
  const said = `api = "${api}" needs the package ${name}: ${installLine(name)}`;
  throw new ServerFault(said, { kinds: ['not_found_error'], said });
}

/** Makes the client of Amazon Bedrock. Without a key the default chain of AWS finds credentials. */
export async function connectBedrock({ baseUrl, apiKey, region }: Endpoint, watched: Fetch): Promise<Ask> {
  needPackage('bedrock');
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
  needPackage('vertex');
  const { AnthropicVertex } = await import('@anthropic-ai/vertex-sdk');
  const { messages } = new AnthropicVertex({
    ...clientOptions(watched),
    baseURL: baseUrl,
    region: region ?? process.env['CLOUD_ML_REGION'] ?? 'global',
    projectId: project,
  });
  return askWith((body, signal) => messages.create({ ...body, stream: true }, { signal }).asResponse());
}
