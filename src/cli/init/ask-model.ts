import { probeModel } from '../../agent/models/probe-model.ts';
import { OperatorError } from '../../core/errors.ts';
import type { ModelSettings } from '../../core/model.ts';
import { systemClock } from '../../lib/clock.ts';
import { quietLog } from '../skills-here.ts';
import type { ModelChoice } from './answers.ts';
import type { Dialog } from './dialog.ts';
import { takeSecret } from './take-secret.ts';
import type { WizardFlags } from './wizard-flags.ts';

const claude = 'claude-sonnet-5-5';

/** Asks for the language model, and tries it at once. Undefined if none is wanted. */
export async function askModel(dialog: Dialog, flags: WizardFlags): Promise<ModelChoice | undefined> {
  for (let again = false; ; again = true) {
    const answer = await takeModel(dialog, flags, again);
    if (answer === undefined || flags.offline === true) return answer;
    const tried = await dialog.during('Asking the model', () =>
      probeModel({ aliases: { default: settingsOf(answer) } }, { clock: systemClock, log: quietLog }),
    );
    if (tried.ok) {
      dialog.say(`The model ${tried.model} answers.`);
      return answer;
    }
    const problem = `The model does not answer: ${tried.message}.`;
    if (!dialog.asks) throw new OperatorError(`${problem} --offline skips this check.`);
    dialog.say(problem);
  }
}

async function takeModel(
  dialog: Dialog,
  flags: WizardFlags,
  again: boolean,
): Promise<ModelChoice | undefined> {
  const kind = await chooseKind(dialog, flags, again);
  const given = again ? {} : flags;
  if (kind === 'none') return undefined;
  if (kind === 'anthropic') {
    const key = await takeSecret(dialog, {
      flag: given['api-key'],
      variable: 'ANTHROPIC_API_KEY',
      question: 'API key (console.anthropic.com, API keys)',
      again,
      kind: 'anthropic',
    });
    return key === undefined ? undefined : { kind, key, model: flags.model ?? claude };
  }
  const baseUrl =
    given['base-url'] ?? (await dialog.text('Address of the server', 'http://127.0.0.1:11434', wrongAddress));
  const model = given.model ?? (dialog.asks ? await dialog.text('Model', 'qwen3:8b') : undefined);
  if (model === undefined) throw new OperatorError('With --base-url write --model, too.');
  const flag = given['api-key'];
  const needsKey =
    flag !== undefined || (dialog.asks && (await dialog.confirm('Does the server want a key?', false)));
  const ask = { flag, variable: 'MODEL_API_KEY', question: 'Key of that server', again };
  return { kind, baseUrl, model, key: needsKey ? await takeSecret(dialog, ask) : undefined };
}

async function chooseKind(
  dialog: Dialog,
  flags: WizardFlags,
  again: boolean,
): Promise<ModelChoice['kind'] | 'none'> {
  if (!again && flags['base-url'] !== undefined) return 'server';
  if (!again && flags['api-key'] !== undefined) return 'anthropic';
  if (!dialog.asks) return process.env['ANTHROPIC_API_KEY'] ? 'anthropic' : 'none';
  return dialog.choose('Which language model?', [
    { value: 'anthropic', label: 'Claude, by Anthropic', hint: 'needs an API key' },
    { value: 'server', label: 'A server of mine', hint: 'Ollama, llama.cpp, vLLM, LiteLLM …' },
    { value: 'none', label: 'None for now', hint: 'skills with scripts work by their names' },
  ]);
}

function settingsOf(answer: ModelChoice): ModelSettings {
  const { model, key } = answer;
  return answer.kind === 'server'
    ? { model, baseUrl: answer.baseUrl, apiKey: key?.value }
    : { model, apiKey: key?.value };
}

function wrongAddress(text: string): string | undefined {
  const { protocol } = URL.parse(text) ?? {};
  return protocol === 'http:' || protocol === 'https:'
    ? undefined
    : 'That is not the address of a server. Write one such as http://127.0.0.1:11434.';
}
