import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openCliHome } from '../support/run-cli.ts';
import { noTerminal, openTerminal } from '../support/shell-at-terminal.ts';

test(
  'L1 a list fits a terminal of 80 columns and breaks between words; elsewhere each line stays whole',
  { skip: noTerminal },
  async (t) => {
    const home = await openCliHome(t);
    const whole = (await home.run(['skill', 'list'])).stdout;
    assert.ok(whole.split('\n').some((line) => line.length > 80));
    const terminal = await openTerminal(t, home, ['skill', 'list'], {}, 80);
    await terminal.ended;
    const shown = terminal.seen().replaceAll('\r', '');
    for (const line of shown.split('\n')) assert.ok(line.length <= 80, line);
    const words = (text: string): readonly string[] => text.split(/\s+/);
    assert.deepEqual(words(shown), words(whole), 'no word is cut or lost');
  },
);
