import { createRequire } from 'node:module';
import type { ModelApi, ModelSettings } from '../../core/model.ts';

const { resolve } = createRequire(import.meta.url);

/** The optional packages of Anthropic that speak to the clouds (M17). */
const packages: Readonly<Partial<Record<ModelApi, string>>> = {
  bedrock: '@anthropic-ai/bedrock-sdk',
  vertex: '@anthropic-ai/vertex-sdk',
};

/** The package that this API needs, if it is not installed. */
export function missingPackage(api: ModelApi = 'anthropic'): string | undefined {
  const wanted = packages[api];
  if (wanted === undefined) return undefined;
  try {
    resolve(wanted);
    return undefined;
  } catch {
    return wanted;
  }
}

/** How to install a missing package beside the bot, in words for the operator. */
export function installLine(name: string): string {
  return `npm install ${name} (with --global if Skillet is installed so)`;
}

/** Whether a model can be asked with what its settings say. The clouds find their credentials themselves. */
export function isReachable({ api, apiKey, baseUrl }: ModelSettings): boolean {
  return apiKey !== undefined || baseUrl !== undefined || api === 'bedrock' || api === 'vertex';
}

/** The address at which a model is asked. Undefined if nothing is configured to reach it. */
export function modelAddress(settings: ModelSettings): string | undefined {
  const { api = 'anthropic', baseUrl, region } = settings;
  if (baseUrl !== undefined || !isReachable(settings)) return baseUrl;
  return usual[api](region);
}

const usual: Readonly<Record<ModelApi, (region: string | undefined) => string>> = {
  anthropic: () => 'https://api.anthropic.com',
  openai: () => 'https://api.openai.com/v1',
  bedrock: (region = process.env['AWS_REGION'] ?? 'us-east-1') =>
    `https://bedrock-runtime.${region}.amazonaws.com`,
  vertex: (region = process.env['CLOUD_ML_REGION'] ?? 'global') =>
    `https://${region === 'global' ? '' : `${region}-`}aiplatform.googleapis.com/v1`,
};
