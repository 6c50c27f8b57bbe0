import { randomUUID } from 'node:crypto';
import { checkView } from './check-view.ts';
import type { Json } from './event-payloads.ts';
import { createWatch, type Watch } from './watch.ts';

/** A modal or a Home tab that somebody has before them. */
export type OpenView = Readonly<{ id: string; user: string; view: Json; hash?: string }>;

type Refused = Readonly<{ error: string; messages?: readonly string[] }>;

/** Triggers, which open one modal within 3 s, what they opened, and Home tabs. */
export type Views = Readonly<{
  /** What a person did may open a modal. */
  trigger(user: string): string;
  /** Opens it; else Slack's error, with what is wrong where that is told. */
  open(trigger: string, view: Json): Readonly<{ opened: OpenView }> | Refused;
  opened: Watch<OpenView>;
  /** Shows it as the person's Home tab; with a hash only if that is of what they see. */
  publish(user: string, view: Json, hash: string): Readonly<{ published: OpenView }> | Refused;
  /** Home tabs as they were published. */
  published: Watch<OpenView>;
  /** What a person's Home tab shows. */
  homeOf(user: string): OpenView | undefined;
}>;

const goodForMs = 3_000;
const largestView = 250_000;

export function createViews(now: () => number): Views {
  const triggers = new Map<string, { user: string; until: number; used: boolean }>();
  const opened = createWatch<OpenView>();
  const published = createWatch<OpenView>();
  const homes = new Map<string, OpenView>();
  return {
    trigger(user) {
      const id = `${now()}.${randomUUID()}`;
      triggers.set(id, { user, until: now() + goodForMs, used: false });
      return id;
    },
    open(id, view) {
      const trigger = triggers.get(id);
      if (trigger === undefined) return { error: 'invalid_trigger_id' };
      if (trigger.used) return { error: 'exchanged_trigger_id' };
      if (trigger.until < now()) return { error: 'expired_trigger_id' };
      const messages = checkView(view);
      if (messages.length > 0) return { error: 'invalid_arguments', messages };
      if (JSON.stringify(view).length > largestView) return { error: 'view_too_large' };
      trigger.used = true;
      const one = { id: `V${randomUUID()}`, user: trigger.user, view };
      opened.add(one);
      return { opened: one };
    },
    opened,
    publish(user, view, hash) {
      const messages = checkView(view, 'home');
      if (messages.length > 0) return { error: 'invalid_arguments', messages };
      if (JSON.stringify(view).length > largestView) return { error: 'view_too_large' };
      const before = homes.get(user);
      if (hash !== '' && before?.hash !== hash) return { error: 'hash_conflict' };
      const one = { id: before?.id ?? `V${randomUUID()}`, user, view, hash: `${now()}.${randomUUID()}` };
      homes.set(user, one);
      published.add(one);
      return { published: one };
    },
    published,
    homeOf: (user) => homes.get(user),
  };
}

/** What a person entered into the fields of a modal, by label, as Slack sends it. What is not named stays as it was shown. */
export function stateOf(view: Json, entered: Readonly<Record<string, string | readonly string[]>>): Json {
  const values: Record<string, Json> = {};
  const left = new Set(Object.keys(entered));
  for (const block of view['blocks'] as readonly Json[]) {
    if (block['type'] !== 'input') continue;
    const label = String((block['label'] as Json)['text']);
    const element = block['element'] as Json;
    left.delete(label);
    values[String(block['block_id'])] = {
      [String(element['action_id'])]: { type: element['type'], ...enteredInto(element, entered[label]) },
    };
  }
  if (left.size > 0) throw new Error(`the modal has no field ${[...left].join(', ')}`);
  return values;
}

function enteredInto(element: Json, value: string | readonly string[] | undefined): Json {
  const options = (element['options'] as readonly Json[] | undefined) ?? [];
  const named = (label: string): Json => {
    const found = options.find((one) => (one['text'] as Json)['text'] === label);
    if (found === undefined) throw new Error(`no option ${label}`);
    return found;
  };
  switch (element['type']) {
    case 'static_select': {
      if (value === '') return { selected_option: null };
      return {
        selected_option: typeof value === 'string' ? named(value) : (element['initial_option'] ?? null),
      };
    }
    case 'multi_static_select':
      return {
        selected_options: Array.isArray(value) ? value.map(named) : (element['initial_options'] ?? []),
      };
    default: {
      const text = value === undefined ? element['initial_value'] : value;
      // The client itself keeps to what the field says.
      const most = element['max_length'];
      if (typeof text === 'string' && most !== undefined && text.length > Number(most))
        throw new Error('longer than the field takes');
      const number =
        element['type'] === 'number_input' && typeof text === 'string' && text !== '' ? Number(text) : 0;
      if (
        number < Number(element['min_value'] ?? -Infinity) ||
        number > Number(element['max_value'] ?? Infinity)
      )
        if (element['type'] === 'number_input' && text) throw new Error('out of the bounds of the field');
      return { value: text === undefined || text === '' ? null : text };
    }
  }
}
