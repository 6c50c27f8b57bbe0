import { createInterface } from 'node:readline/promises';
import { askBot } from './ask-bot.ts';
import type { ForgetOptions } from './options.ts';
import { print, printJson } from './print.ts';

/** `forget USER`: removes what is stored of a person, after a yes (Q12). Exit 1 when nothing was stored of them, or the answer was no. */
export async function forget(sender: string, { config, json, yes }: ForgetOptions): Promise<void> {
  if (yes !== true) {
    if (!process.stdin.isTTY || !process.stdout.isTTY) {
      process.exitCode = 2;
      return console.error('Nobody can be asked here: say --yes.');
    }
    if (!(await agreed(sender))) {
      process.exitCode = 1;
      return print('Nothing was removed.');
    }
  }
  const gone = await askBot(config, 'forget', sender);
  const { known, inConfig, removed } = gone;
  const nothing = !known && Object.values(removed).every((count) => count === 0);
  if (nothing) process.exitCode = 1;
  if (json === true) return printJson(gone);
  const { messages, entries, outbox, usage, asks, files } = removed;
  print(
    nothing
      ? `Nothing was stored of ${sender}.`
      : `${sender} is forgotten: ${entries} entries of conversations, ${messages} messages, ${outbox} answers, ${asks} questions, ${files} folders or files, ${usage} usage records.`,
  );
  if (inConfig) print(`The config names ${sender}: remove the id there, or they can still talk to the bot.`);
}

async function agreed(sender: string): Promise<boolean> {
  const ask = createInterface({ input: process.stdin, output: process.stdout });
  try {
    print(
      `This deletes for good: the direct messages of ${sender} with answers and files; in groups their messages, the answers to them and quotes of them; their waiting messages, pairing and usage. Running work for them stops. Backups are not touched.`,
    );
    return /^y(es)?$/i.test((await ask.question(`Forget ${sender}? [y/N] `)).trim());
  } finally {
    ask.close();
  }
}
