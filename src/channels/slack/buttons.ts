import type { Button } from '../../core/channel.ts';
import { thumbAction, type Thumbs } from '../../core/rating.ts';

export type SlackBlock = Readonly<Record<string, unknown>>;

/** More buttons become a menu, because a longer row is hard to read on a phone. */
const rowLength = 5;

/** Writes buttons as blocks. Links stay buttons, because a menu can't open them. */
export function toButtonBlocks(buttons: readonly Button[]): readonly SlackBlock[] {
  if (buttons.length === 0) return [];
  if (buttons.length <= rowLength) return [row(buttons)];
  const links = buttons.filter((button) => 'url' in button);
  const choices = buttons.filter((button) => 'action' in button);
  return [...chunks(choices, 100).map(menu), ...chunks(links, rowLength).map(row)];
}

/** The action of a pressed button; undefined if it is a link or not one of this bot's. */
export function actionOf(
  pressed: Readonly<{
    action_id: string;
    value?: string | null;
    selected_option?: { value?: string | null } | null;
  }>,
): string | undefined {
  if (!pressed.action_id.startsWith(ours)) return undefined;
  return pressed.selected_option?.value || pressed.value || undefined;
}

const ours = 'skillet:';

/** Writes the two thumbs below an answer (U17). */
export function toThumbBlocks(thumbs: Thumbs | undefined): readonly SlackBlock[] {
  if (thumbs === undefined) return [];
  const button = (label: string, value: string): SlackBlock => ({
    text: plain(label),
    value,
    accessibility_label: cut(label, 75),
  });
  const element = {
    type: 'feedback_buttons',
    action_id: `${ours}thumbs`,
    positive_button: button(thumbs.up, thumbAction('up')),
    negative_button: button(thumbs.down, thumbAction('down')),
  };
  return [{ type: 'context_actions', elements: [element] }];
}

function row(buttons: readonly Button[]): SlackBlock {
  return { type: 'actions', elements: buttons.map(toElement) };
}

/**
 * Writes a button. Its id has to be unique within a block, so it contains the position; the value contains the action.
 */
function toElement(button: Button, index: number): SlackBlock {
  const text = plain(button.label);
  return 'url' in button
    ? { type: 'button', text, url: button.url, action_id: `${ours}link:${index}` }
    : { type: 'button', text, value: button.action, action_id: `${ours}press:${index}` };
}

function menu(choices: readonly Extract<Button, { action: string }>[], index: number): SlackBlock {
  return {
    type: 'actions',
    elements: [
      {
        type: 'static_select',
        action_id: `${ours}pick:${index}`,
        placeholder: plain('…'),
        options: choices.map(({ label, action }) => ({ text: plain(label), value: action })),
      },
    ],
  };
}

function plain(label: string): SlackBlock {
  return { type: 'plain_text', text: cut(label, 75) || '-' };
}

/** Cuts a text to `most` code points, which is what Slack counts. */
function cut(text: string, most: number): string {
  const points = [...text];
  return points.length <= most ? text : `${points.slice(0, most - 1).join('')}…`;
}

function chunks<Item>(items: readonly Item[], size: number): readonly (readonly Item[])[] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}
