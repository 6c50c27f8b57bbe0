import { existsSync } from 'node:fs';
import path from 'node:path';
import { envFileOf } from '../../config/load-config.ts';
import { OperatorError } from '../../core/errors.ts';
import { loadEnvBeside } from '../env-file.ts';
import { useNetwork } from '../use-network.ts';
import type { InitAnswers } from './answers.ts';
import { askSlack, askTelegram } from './ask-channels.ts';
import { askModel } from './ask-model.ts';
import { atTerminal, flagsOnly, type Dialog } from './dialog.ts';
import { findPeople } from './find-people.ts';
import { withWayBack } from './going-back.ts';
import { refuseTracked } from './refuse-tracked.ts';
import type { WizardFlags } from './wizard-flags.ts';
import { writeFiles } from './write-files.ts';
import { skilletHere } from '../../core/skillet-here.ts';

/** Asks for what a bot needs, tries it, and writes the config and `.env` at the end. Throws OperatorError. */
export async function init(flags: WizardFlags): Promise<void> {
  const file = path.resolve(flags.config ?? (process.env['SKILLET_CONFIG'] || 'config.toml'));
  loadEnvBeside(file);
  useNetwork({ network: { proxyResolves: false } });
  const canAsk = process.stdin.isTTY && process.stdout.isTTY;
  const dialog = flags.yes !== true && canAsk ? await atTerminal() : flagsOnly();
  // This comes before anybody is asked for a token.
  if (dialog.asks) refuseTracked(envFileOf(file));
  const { replace, answers } = await withWayBack(dialog, async (asked) => ({
    replace: await mayWrite(file, flags, asked),
    answers: await gather(asked, flags),
  }));
  const { written } = await writeFiles(file, answers, replace);
  const option = file === path.resolve('config.toml') ? '' : ` --config ${file}`;
  dialog.say(
    `Written, readable only by you: ${written.join(', ')}\nCheck it: ${skilletHere()} doctor --online${option}`,
  );
  dialog.end(`Start the bot: ${skilletHere()} start${option}`);
}

async function gather(dialog: Dialog, flags: WizardFlags): Promise<InitAnswers> {
  const name =
    flags.name ?? (dialog.asks ? await dialog.text('What is the bot called?', 'Skillet') : 'Skillet');
  const model = await askModel(dialog, flags);
  const telegram = await askTelegram(dialog, flags);
  const slack = await askSlack(dialog, flags);
  const answers: InitAnswers = { name, model, telegram, slack, owners: [], groups: [] };
  return { ...answers, ...(await findPeople(dialog, flags, answers)) };
}

/** Whether a config that is there is replaced; false if there is none. Throws OperatorError if it must stay. */
async function mayWrite(file: string, { replace }: WizardFlags, dialog: Dialog): Promise<boolean> {
  if (!existsSync(file)) return false;
  if (replace === true) return true;
  const question = `${file} exists already. Replace it, and keep this one as ${path.basename(file)}.old?`;
  if (dialog.asks && (await dialog.confirm(question, false))) return true;
  throw new OperatorError(
    `${file} exists already: edit it, or use --replace to write a new one. \`${skilletHere()} doctor\` says what is wrong with it.`,
  );
}
