import { checkBlock, checkElement, checkText } from './block-kit.ts';
import type { Json } from './event-payloads.ts';

/** What Slack refuses in a modal or a Home tab, one sentence each. Empty when all is well. */
export function checkView(view: unknown, type: 'modal' | 'home' = 'modal'): readonly string[] {
  if (!isObject(view)) return ['must be an object [json-pointer:/view]'];
  const blocks = Array.isArray(view['blocks']) ? (view['blocks'] as unknown[]) : [];
  const ids = blocks.flatMap((block) =>
    isObject(block) && typeof block['block_id'] === 'string' ? [block['block_id']] : [],
  );
  const hasInput = blocks.some((block) => isObject(block) && block['type'] === 'input');
  return [
    ...(view['type'] === type ? [] : ['unsupported type [json-pointer:/view/type]']),
    ...(type === 'modal' ? checkText(view['title'], 24, '/view/title', ['plain_text']) : notOnHome(view)),
    ...(view['submit'] === undefined ? [] : checkText(view['submit'], 24, '/view/submit', ['plain_text'])),
    ...(view['close'] === undefined ? [] : checkText(view['close'], 24, '/view/close', ['plain_text'])),
    ...(type === 'modal' && hasInput && view['submit'] === undefined
      ? ['must define `submit` to use an `input` block in modals [json-pointer:/view]']
      : []),
    ...short(view['private_metadata'], 3000, '/view/private_metadata'),
    ...short(view['callback_id'], 255, '/view/callback_id'),
    ...(blocks.length === 0 ? ['no less than 1 item allowed [json-pointer:/view/blocks]'] : []),
    ...(blocks.length > 100 ? ['no more than 100 items allowed [json-pointer:/view/blocks]'] : []),
    ...(new Set(ids).size === ids.length ? [] : ['block_id must be unique [json-pointer:/view/blocks]']),
    ...blocks.flatMap((block, index) => checkViewBlock(block, `/view/blocks/${index}`)),
  ];
}

/** What a Home tab has no place for. */
function notOnHome(view: Json): readonly string[] {
  return ['title', 'submit', 'close'].flatMap((key) =>
    view[key] === undefined ? [] : [`unexpected field: ${key} [json-pointer:/view]`],
  );
}

/** Messages alone have these. */
const onlyInMessages = ['markdown', 'file', 'task_card', 'plan'];

function checkViewBlock(block: unknown, at: string): readonly string[] {
  if (isObject(block) && onlyInMessages.includes(String(block['type'])))
    return [`unsupported type: ${String(block['type'])} [json-pointer:${at}/type]`];
  if (!isObject(block) || block['type'] !== 'input') return checkBlock(block, at);
  const { element } = block;
  return [
    ...checkBlock(block, at),
    ...checkText(block['label'], 2000, `${at}/label`, ['plain_text']),
    ...(block['hint'] === undefined ? [] : checkText(block['hint'], 2000, `${at}/hint`, ['plain_text'])),
    ...checkElement(element, `${at}/element`),
    ...(isObject(element) ? checkInput(element, `${at}/element`) : []),
  ];
}

function checkInput(element: Json, at: string): readonly string[] {
  const placeholder = element['placeholder'];
  const holder =
    placeholder === undefined ? [] : checkText(placeholder, 150, `${at}/placeholder`, ['plain_text']);
  switch (element['type']) {
    case 'plain_text_input': {
      const most = element['max_length'];
      const isBad = most !== undefined && !(Number(most) >= 1 && Number(most) <= 3000);
      const initial = element['initial_value'];
      const long = typeof initial === 'string' && initial.length > Number(most ?? 3000);
      return [
        ...holder,
        ...(isBad ? [`must be from 1 to 3000 [json-pointer:${at}/max_length]`] : []),
        ...(long ? [`must be shorter [json-pointer:${at}/initial_value]`] : []),
      ];
    }
    case 'number_input':
      return [
        ...holder,
        ...(typeof element['is_decimal_allowed'] === 'boolean'
          ? []
          : [`missing required field: is_decimal_allowed [json-pointer:${at}]`]),
        ...['min_value', 'max_value', 'initial_value'].flatMap((key) =>
          element[key] === undefined ||
          /^-?\d+(\.\d+)?$/.test(JSON.stringify(element[key]).replaceAll('"', ''))
            ? typeof (element[key] ?? '') === 'string'
              ? []
              : [`must be a string [json-pointer:${at}/${key}]`]
            : [`must be a number [json-pointer:${at}/${key}]`],
        ),
      ];
    case 'url_text_input': {
      const initial = element['initial_value'];
      const isUrl = initial === undefined || (typeof initial === 'string' && URL.canParse(initial));
      return [...holder, ...(isUrl ? [] : [`must be a valid url [json-pointer:${at}/initial_value]`])];
    }
    case 'static_select':
      return [...holder, ...amongOptions(element, [element['initial_option']], at)];
    case 'multi_static_select': {
      const initial = element['initial_options'];
      const list = initial === undefined ? [] : Array.isArray(initial) ? (initial as unknown[]) : [undefined];
      const empty = Array.isArray(initial) && initial.length === 0;
      return [
        ...holder,
        ...(empty ? [`no less than 1 item allowed [json-pointer:${at}/initial_options]`] : []),
        ...amongOptions(element, list, at),
      ];
    }
    default:
      return [`unsupported type: ${String(element['type'])} [json-pointer:${at}]`];
  }
}

/** What is chosen at first must be one of the options, as it stands there. */
function amongOptions(element: Json, chosen: readonly unknown[], at: string): readonly string[] {
  const options = new Set(
    ((element['options'] as unknown[] | undefined) ?? []).map((one) => JSON.stringify(one)),
  );
  const strange = chosen.some((one) => one !== undefined && !options.has(JSON.stringify(one)));
  return strange ? [`initial_option must be one of the options [json-pointer:${at}]`] : [];
}

function short(text: unknown, most: number, at: string): readonly string[] {
  if (text === undefined) return [];
  return typeof text === 'string' && text.length <= most
    ? []
    : [`must be less than ${most + 1} characters [json-pointer:${at}]`];
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
