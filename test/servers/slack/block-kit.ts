import { cellsLength, checkDataTable, checkPlan, checkTaskCard } from './agent-blocks.ts';

type Json = Readonly<Record<string, unknown>>;

/** What Block Kit refuses in a message's blocks, one sentence each, as `response_metadata.messages` has them. Empty when all is well. */
export function checkBlocks(blocks: unknown): readonly string[] {
  if (!Array.isArray(blocks)) return ['must be an array of blocks'];
  const ids = blocks.flatMap((block) =>
    isObject(block) && typeof block['block_id'] === 'string' ? [block['block_id']] : [],
  );
  return [
    ...(blocks.length > 50 ? ['no more than 50 items allowed [json-pointer:/blocks]'] : []),
    ...(new Set(ids).size === ids.length ? [] : ['block_id must be unique [json-pointer:/blocks]']),
    ...blocks.flatMap((block, index) => checkBlock(block, `/blocks/${index}`)),
    ...longerThan(markdownLength(blocks), 12_000, '/blocks (markdown, all together)'),
    ...longerThan(cellsLength(blocks), 10_000, '/blocks (data_table, all together)'),
  ];
}

/** Characters of text over all blocks: about 13,200 are taken. */
export function blocksLength(blocks: readonly unknown[]): number {
  const lengthOf = (value: unknown): number => {
    if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + lengthOf(item), 0);
    if (!isObject(value)) return 0;
    return Object.entries(value).reduce(
      (sum, [key, item]) => sum + (key === 'text' && typeof item === 'string' ? item.length : lengthOf(item)),
      0,
    );
  };
  return lengthOf(blocks);
}

function markdownLength(blocks: readonly unknown[]): number {
  return blocks.reduce<number>((sum, block) => {
    if (!isObject(block) || block['type'] !== 'markdown') return sum;
    return sum + points(block['text']);
  }, 0);
}

/** Kinds of block that a message may hold and that the bot does not build are let through unread. */
const unread = [
  'video',
  'file',
  'rich_text',
  'table',
  'carousel',
  'container',
  'card',
  'alert',
  'data_visualization',
  'input',
];

export function checkBlock(block: unknown, at: string): readonly string[] {
  if (!isObject(block)) return [`must be an object [json-pointer:${at}]`];
  const id = longText(block['block_id'], 255, `${at}/block_id`);
  switch (block['type']) {
    case 'markdown':
      return [...id, ...needText(block['text'], 12_000, `${at}/text`)];
    case 'section':
      return [...id, ...checkSection(block, at)];
    case 'header':
      return [...id, ...checkText(block['text'], 150, `${at}/text`, ['plain_text'])];
    case 'divider':
      return id;
    case 'image':
      return [
        ...id,
        ...longText(block['image_url'], 3000, `${at}/image_url`),
        ...needText(block['alt_text'], 2000, `${at}/alt_text`),
      ];
    case 'context':
      return [...id, ...checkItems(block['elements'], 10, `${at}/elements`, checkContextElement)];
    case 'actions':
      return [...id, ...checkActions(block, at)];
    case 'plan':
      return [...id, ...checkPlan(block, at)];
    case 'task_card':
      return [...id, ...checkTaskCard(block, at)];
    case 'data_table':
      return [...id, ...checkDataTable(block, at)];
    case 'context_actions':
      return [...id, ...checkItems(block['elements'], 5, `${at}/elements`, checkContextAction)];
    default:
      return typeof block['type'] === 'string' && unread.includes(block['type'])
        ? id
        : [...id, `unsupported type: ${String(block['type'])} [json-pointer:${at}/type]`];
  }
}

function checkSection(block: Json, at: string): readonly string[] {
  const fields = block['fields'];
  if (block['text'] === undefined && fields === undefined) {
    return [`a section needs text or fields [json-pointer:${at}]`];
  }
  return [
    ...(block['text'] === undefined ? [] : checkText(block['text'], 3000, `${at}/text`)),
    ...(fields === undefined
      ? []
      : checkItems(fields, 10, `${at}/fields`, (field, place) => checkText(field, 2000, place))),
    ...(block['accessory'] === undefined ? [] : checkElement(block['accessory'], `${at}/accessory`)),
  ];
}

function checkActions(block: Json, at: string): readonly string[] {
  const elements = Array.isArray(block['elements']) ? (block['elements'] as unknown[]) : [];
  const ids = elements.flatMap((element) => (isObject(element) ? [element['action_id']] : []));
  const given = ids.filter((id) => id !== undefined);
  return [
    ...checkItems(block['elements'], 25, `${at}/elements`, checkElement),
    ...(new Set(given).size === given.length
      ? []
      : [`action_id must be unique [json-pointer:${at}/elements]`]),
  ];
}

function checkContextElement(element: unknown, at: string): readonly string[] {
  return isObject(element) && element['type'] === 'image' ? [] : checkText(element, 3000, at);
}

/** The two thumbs, and buttons with an icon, which the bot does not build. */
function checkContextAction(element: unknown, at: string): readonly string[] {
  if (!isObject(element)) return [`must be an object [json-pointer:${at}]`];
  const base = longText(element['action_id'], 255, `${at}/action_id`);
  if (element['type'] === 'icon_button') return base;
  if (element['type'] !== 'feedback_buttons')
    return [...base, `unsupported type: ${String(element['type'])} [json-pointer:${at}/type]`];
  const button = (name: string): readonly string[] => {
    const one = element[name];
    const place = `${at}/${name}`;
    if (!isObject(one)) return [`missing required field: ${name} [json-pointer:${at}]`];
    return [
      ...checkText(one['text'], 75, `${place}/text`, ['plain_text']),
      ...needText(one['value'], 2000, `${place}/value`),
      ...longText(one['accessibility_label'], 75, `${place}/accessibility_label`),
    ];
  };
  return [...base, ...button('positive_button'), ...button('negative_button')];
}

/** Buttons and menus; other elements are let through. */
export function checkElement(element: unknown, at: string): readonly string[] {
  if (!isObject(element)) return [`must be an object [json-pointer:${at}]`];
  const base = longText(element['action_id'], 255, `${at}/action_id`);
  const confirm =
    element['confirm'] === undefined ? [] : checkConfirmation(element['confirm'], `${at}/confirm`);
  switch (element['type']) {
    case 'button':
      return [
        ...base,
        ...confirm,
        ...checkText(element['text'], 75, `${at}/text`, ['plain_text']),
        ...longText(element['url'], 3000, `${at}/url`),
        ...longText(element['value'], 2000, `${at}/value`),
        ...longText(element['accessibility_label'], 75, `${at}/accessibility_label`),
      ];
    case 'static_select':
    case 'multi_static_select':
      return [...base, ...confirm, ...checkSelect(element, at)];
    case 'overflow':
      return [...base, ...confirm, ...checkItems(element['options'], 5, `${at}/options`, checkOption)];
    case 'checkboxes':
    case 'radio_buttons':
      return [...base, ...confirm, ...checkItems(element['options'], 10, `${at}/options`, checkOption)];
    default:
      return typeof element['type'] === 'string'
        ? [...base, ...confirm]
        : [`missing required field: type [json-pointer:${at}]`];
  }
}

function checkSelect(element: Json, at: string): readonly string[] {
  const groups = element['option_groups'];
  const placeholder = element['placeholder'];
  return [
    ...(placeholder === undefined ? [] : checkText(placeholder, 150, `${at}/placeholder`, ['plain_text'])),
    ...(groups === undefined
      ? checkItems(element['options'], 100, `${at}/options`, checkOption)
      : checkItems(groups, 100, `${at}/option_groups`, checkOptionGroup)),
  ];
}

export function checkOption(option: unknown, at: string): readonly string[] {
  if (!isObject(option)) return [`must be an object [json-pointer:${at}]`];
  return [
    ...checkText(option['text'], 75, `${at}/text`),
    ...longText(option['value'], 150, `${at}/value`),
    ...longText(option['url'], 3000, `${at}/url`),
    ...(option['description'] === undefined ? [] : checkText(option['description'], 75, `${at}/description`)),
  ];
}

export function checkOptionGroup(group: unknown, at: string): readonly string[] {
  if (!isObject(group)) return [`must be an object [json-pointer:${at}]`];
  return [
    ...checkText(group['label'], 75, `${at}/label`, ['plain_text']),
    ...checkItems(group['options'], 100, `${at}/options`, checkOption),
  ];
}

export function checkConfirmation(confirm: unknown, at: string): readonly string[] {
  if (!isObject(confirm)) return [`must be an object [json-pointer:${at}]`];
  return [
    ...checkText(confirm['title'], 100, `${at}/title`, ['plain_text']),
    ...checkText(confirm['text'], 300, `${at}/text`),
    ...checkText(confirm['confirm'], 30, `${at}/confirm`, ['plain_text']),
    ...checkText(confirm['deny'], 30, `${at}/deny`, ['plain_text']),
  ];
}

export function checkText(
  text: unknown,
  most: number,
  at: string,
  types: readonly string[] = ['plain_text', 'mrkdwn'],
): readonly string[] {
  if (!isObject(text)) return [`missing required field: text [json-pointer:${at}]`];
  const type = text['type'];
  return [
    ...(typeof type === 'string' && types.includes(type)
      ? []
      : [`invalid text type [json-pointer:${at}/type]`]),
    ...needText(text['text'], most, `${at}/text`),
  ];
}

function checkItems(
  items: unknown,
  most: number,
  at: string,
  check: (item: unknown, at: string) => readonly string[],
): readonly string[] {
  if (!Array.isArray(items) || items.length === 0)
    return [`no less than 1 item allowed [json-pointer:${at}]`];
  const many = items.length > most ? [`no more than ${most} items allowed [json-pointer:${at}]`] : [];
  return [...many, ...items.flatMap((item, index) => check(item, `${at}/${index}`))];
}

function needText(text: unknown, most: number, at: string): readonly string[] {
  if (typeof text !== 'string') return [`missing required field [json-pointer:${at}]`];
  if (text === '') return [`must be more than 0 characters [json-pointer:${at}]`];
  return longerThan(points(text), most, at);
}

function longText(text: unknown, most: number, at: string): readonly string[] {
  if (text === undefined) return [];
  return typeof text === 'string'
    ? longerThan(points(text), most, at)
    : [`must be a string [json-pointer:${at}]`];
}

function longerThan(length: number, most: number, at: string): readonly string[] {
  return length > most ? [`must be less than ${most + 1} characters [json-pointer:${at}]`] : [];
}

function points(text: unknown): number {
  return typeof text === 'string' ? [...text].length : 0;
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
