import { createInterface } from 'node:readline/promises';

/** What came of asking somebody at the terminal; `unasked`: there is nobody. */
export type Agreed = 'yes' | 'no' | 'unasked';

/** Asks a question that only a plain yes answers. `yes` stands for one that was given on the command line. */
export async function agree(question: string, yes: boolean): Promise<Agreed> {
  if (yes) return 'yes';
  if (!process.stdin.isTTY || !process.stdout.isTTY) return 'unasked';
  const ask = createInterface({ input: process.stdin, output: process.stdout });
  // Ended by Ctrl-C or Ctrl-D, no answer ever comes.
  const closed = new Promise<string>((resolve) => ask.once('close', () => resolve('')));
  try {
    const answer = await Promise.race([ask.question(`${question} [y/N] `), closed]);
    return /^y(es)?$/i.test(answer.trim()) ? 'yes' : 'no';
  } finally {
    ask.close();
  }
}
