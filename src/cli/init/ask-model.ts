import { installLine, missingPackage } from '../../agent/models/model-place.ts';
import { probeModel } from '../../agent/models/probe-model.ts';
import { OperatorError } from '../../core/errors.ts';
import type { ModelApi, ModelSettings } from '../../core/model.ts';
import { systemClock } from '../../lib/clock.ts';
import { quietLog } from '../skills-here.ts';
import type { ModelChoice } from './answers.ts';
import type { Dialog } from './dialog.ts';
import { takeSecret } from './take-secret.ts';
import type { WizardFlags } from './wizard-flags.ts';

const apis = ['anthropic', 'openai', 'bedrock', 'vertex'] as const;
/** The choices of the wizard: an API at its usual address, or a server of somebody else. */
type Choice = ModelApi | 'server' | 'none';

/** Keys for the usual addresses: where they are, and what to ask. */
const keys = {
  anthropic: { variable: 'ANTHROPIC_API_KEY', question: 'API key (console.anthropic.com, API keys)' },
  openai: { variable: 'OPENAI_API_KEY', question: 'API key (platform.openai.com, API keys)' },
} as const;
const models: Readonly<Partial<Record<ModelApi, string>>> = {
  anthropic: 'claude-sonnet-5-5',
  openai: 'gpt-5.6-terra',
  bedrock: 'global.anthropic.claude-sonnet-5-5-v1:0',
  vertex: 'claude-sonnet-5-5',
};

/** Asks for the language model, and tries it at once. Undefined if none is wanted. */
export async function askModel(dialog: Dialog, flags: WizardFlags): Promise<ModelChoice | undefined> {
  for (let again = false; ; again = true) {
    const answer = await takeModel(dialog, again ? {} : flags, again);
    if (answer === undefined || flags.offline === true) return answer;
    const wanted = missingPackage(answer.api);
    if (wanted !== undefined)
      throw new OperatorError(
        `api = "${answer.api}" needs a package: ${installLine(wanted)}. Then run init again.`,
      );
    const tried = await dialog.during('Asking the model', () =>
      probeModel({ aliases: { default: settingsOf(answer) } }, { clock: systemClock, log: quietLog }),
    );
    if (tried.ok) {
      dialog.say(`The model ${tried.model} answers.`);
      return answer;
    }
    const problem = `The model does not answer: ${tried.message}. ${tried.fix}`;
    if (!dialog.asks) throw new OperatorError(`${problem} --offline skips this check.`);
    dialog.say(problem);
  }
}

async function takeModel(
  dialog: Dialog,
  flags: WizardFlags,
  again: boolean,
): Promise<ModelChoice | undefined> {
  const choice = await chooseKind(dialog, flags);
  if (choice === 'none') return undefined;
  if (choice === 'server') return takeServer(dialog, flags, again);
  const preset = models[choice] ?? '';
  const named = async (): Promise<string> =>
    flags.model ?? (dialog.asks && choice !== 'anthropic' ? dialog.text('Model', preset) : preset);
  if (choice === 'anthropic' || choice === 'openai') {
    const key = await takeSecret(dialog, { ...keys[choice], flag: flags['api-key'], again, kind: choice });
    return key === undefined ? undefined : { api: choice, key, model: await named() };
  }
  const region = flags.region ?? (dialog.asks ? await dialog.text('Region', regions[choice]) : undefined);
  const project =
    flags.project ??
    (dialog.asks && choice === 'vertex' ? await dialog.text('Google Cloud project') : undefined);
  return {
    api: choice,
    model: await named(),
    baseUrl: flags['base-url'],
    region,
    project,
  };
}

const regions = { bedrock: 'us-east-1', vertex: 'global' } as const;

async function takeServer(dialog: Dialog, flags: WizardFlags, again: boolean): Promise<ModelChoice> {
  const baseUrl =
    flags['base-url'] ??
    (await dialog.text('Address of the server', 'http://127.0.0.1:11434/v1', wrongAddress));
  const guess = /\/v\d|\/openai/.test(baseUrl) ? 'openai' : 'anthropic';
  const api = apiOf(flags.api) ?? guess;
  const model = flags.model ?? (dialog.asks ? await dialog.text('Model', 'qwen3:8b') : undefined);
  if (model === undefined) throw new OperatorError('With --base-url write --model, too.');
  const flag = flags['api-key'];
  const needsKey =
    flag !== undefined || (dialog.asks && (await dialog.confirm('Does the server want a key?', false)));
  const wanted = { flag, variable: 'MODEL_API_KEY', question: 'Key of that server', again };
  const key = needsKey ? await takeSecret(dialog, wanted) : undefined;
  return { api, baseUrl, model, key };
}

function apiOf(flag: string | undefined): ModelApi | undefined {
  if (flag === undefined) return undefined;
  const api = apis.find((one) => one === flag);
  if (api === undefined) throw new OperatorError(`--api is one of ${apis.join(', ')}, not "${flag}".`);
  return api;
}

async function chooseKind(dialog: Dialog, flags: WizardFlags): Promise<Choice> {
  const api = apiOf(flags.api);
  if (api === 'bedrock' || api === 'vertex') return api;
  if (flags['base-url'] !== undefined) return 'server';
  if (api !== undefined) return api;
  if (flags['api-key'] !== undefined) return 'anthropic';
  if (!dialog.asks) return process.env['ANTHROPIC_API_KEY'] ? 'anthropic' : 'none';
  return dialog.choose('Which language model?', [
    { value: 'anthropic', label: 'Claude, by Anthropic', hint: 'needs an API key' },
    { value: 'openai', label: 'OpenAI', hint: 'needs an API key' },
    {
      value: 'server',
      label: 'Another server',
      hint: 'Ollama, llama.cpp, vLLM, LM Studio, Gemini, OpenRouter, Mistral …',
    },
    { value: 'bedrock', label: 'Claude on Amazon Bedrock', hint: 'signs in as the AWS tools do' },
    { value: 'vertex', label: 'Claude on Google Vertex AI', hint: 'signs in as gcloud does' },
    { value: 'none', label: 'None for now', hint: 'skills with scripts work by their names' },
  ]);
}

function settingsOf({ key, ...choice }: ModelChoice): ModelSettings {
  return { ...choice, apiKey: key?.value };
}

function wrongAddress(text: string): string | undefined {
  const { protocol } = URL.parse(text) ?? {};
  return protocol === 'http:' || protocol === 'https:'
    ? undefined
    : 'That is not the address of a server. Write one such as http://127.0.0.1:11434/v1.';
}
