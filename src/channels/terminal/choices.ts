import type { Button } from '../../core/channel.ts';
import { safeLine } from './from-markdown.ts';

type Choice = Extract<Button, { action: string }>;

/** The buttons of a message as lines: a number before what can be chosen, the address behind what opens. */
export function listButtons(buttons: readonly Button[]): string {
  const choices = choicesOf(buttons);
  return buttons
    .map((button) =>
      'url' in button
        ? `  ${safeLine(button.label)}: ${safeLine(button.url)}`
        : `  [${choices.indexOf(button) + 1}] ${safeLine(button.label)}`,
    )
    .join('\n');
}

/** The button that a line chooses: by its number, its label in any case, or `y`, `n`, `a` for what is asked most. */
export function findChoice(buttons: readonly Button[], line: string): Choice | undefined {
  const choices = choicesOf(buttons);
  const said = line.trim().toLowerCase();
  const byNumber = /^\d+$/.test(said) ? choices[Number(said) - 1] : undefined;
  const labels = shortForms[said] ?? [said];
  return byNumber ?? choices.find(({ label }) => labels.includes(safeLine(label).toLowerCase()));
}

const shortForms: Readonly<Record<string, readonly string[]>> = {
  y: ['yes', 'approve'],
  yes: ['yes', 'approve'],
  n: ['no', 'deny'],
  no: ['no', 'deny'],
  a: ['always'],
};

function choicesOf(buttons: readonly Button[]): readonly Choice[] {
  return buttons.filter((button) => 'action' in button);
}
