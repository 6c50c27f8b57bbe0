import type { Button } from '../../core/channel.ts';

export type Block = Readonly<Record<string, unknown>>;

/** More buttons become a menu: so long a row is hard to read on a phone. */
const rowLength = 5;

/** A menu can't open links. */
export function toButtonBlocks(buttons: readonly Button[]): readonly Block[] {
  if (buttons.length === 0) return [];
  if (buttons.length <= rowLength) return [row(buttons)];
  const links = buttons.filter((button) => 'url' in button);
  const choices = buttons.filter((button) => 'action' in button);
  return [...chunks(choices, 100).map(menu), ...chunks(links, rowLength).map(row)];
}

/** Undefined if not this bot's, or a link. */
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

function row(buttons: readonly Button[]): Block {
  return { type: 'actions', elements: buttons.map(toElement) };
}

/** Unique within a block, so it carries the position; the value carries the action. */
function toElement(button: Button, index: number): Block {
  const text = plain(button.label);
  return 'url' in button
    ? { type: 'button', text, url: button.url, action_id: `${ours}link:${index}` }
    : { type: 'button', text, value: button.action, action_id: `${ours}press:${index}` };
}

function menu(choices: readonly Extract<Button, { action: string }>[], index: number): Block {
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

function plain(label: string): Block {
  return { type: 'plain_text', text: cut(label, 75) || '-' };
}

/** Slack counts code points. */
function cut(text: string, most: number): string {
  const points = [...text];
  return points.length <= most ? text : `${points.slice(0, most - 1).join('')}…`;
}

function chunks<Item>(items: readonly Item[], size: number): readonly (readonly Item[])[] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}
