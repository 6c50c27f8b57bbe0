type Json = Readonly<Record<string, unknown>>;

/** Blocks of agents: plans, their cards, and tables that people sort. One sentence for each thing that Slack refuses. */

/** https://docs.slack.dev/reference/block-kit/blocks/plan-block */
export function checkPlan(block: Json, at: string): readonly string[] {
  const tasks = block['tasks'] ?? [];
  if (!Array.isArray(tasks)) return [`must be an array [json-pointer:${at}/tasks]`];
  const ids = tasks.map((task: Json) => task['task_id']);
  return [
    ...need(block['title'], `${at}/title`),
    ...(new Set(ids).size === ids.length ? [] : [`task_id must be unique [json-pointer:${at}/tasks]`]),
    ...tasks.flatMap((task: unknown, index) => {
      const place = `${at}/tasks/${index}`;
      return isObject(task) && (task['type'] ?? 'task_card') === 'task_card'
        ? checkTaskCard(task, place)
        : [`must be a task_card [json-pointer:${place}]`];
    }),
  ];
}

const statuses: readonly unknown[] = ['pending', 'in_progress', 'complete', 'error'];

/** https://docs.slack.dev/reference/block-kit/blocks/task-card-block */
export function checkTaskCard(block: Json, at: string): readonly string[] {
  const { task_id, title, status, details, output } = block;
  return [
    ...need(task_id, `${at}/task_id`),
    ...need(title, `${at}/title`),
    ...(status === undefined || statuses.includes(status)
      ? []
      : [`must be one of ${statuses.join(', ')} [json-pointer:${at}/status]`]),
    ...(details === undefined ? [] : checkRichText(details, `${at}/details`)),
    ...(output === undefined ? [] : checkRichText(output, `${at}/output`)),
  ];
}

/** https://docs.slack.dev/reference/block-kit/blocks/data-table-block: a header and 1 to 100 rows of 1 to 20 cells. */
export function checkDataTable(block: Json, at: string): readonly string[] {
  const rows = block['rows'];
  const page = block['page_size'];
  if (!Array.isArray(rows) || !rows.every((row) => Array.isArray(row)))
    return [`must be an array of rows [json-pointer:${at}/rows]`];
  const columns = rows[0]?.length ?? 0;
  const key = block['row_header_column_index'] ?? 0;
  return [
    ...need(block['caption'], `${at}/caption`),
    ...(rows.length < 2 ? [`no less than 2 items allowed [json-pointer:${at}/rows]`] : []),
    ...(rows.length > 101 ? [`no more than 101 items allowed [json-pointer:${at}/rows]`] : []),
    ...(columns < 1 || columns > 20 ? [`1 to 20 columns allowed [json-pointer:${at}/rows/0]`] : []),
    ...(rows.every((row: readonly unknown[]) => row.length === columns)
      ? []
      : [`all rows must have the same number of cells [json-pointer:${at}/rows]`]),
    ...(page === undefined || isBetween(page, 1, 100) ? [] : [`1 to 100 [json-pointer:${at}/page_size]`]),
    ...(isBetween(key, 0, columns - 1)
      ? []
      : [`no such column [json-pointer:${at}/row_header_column_index]`]),
    ...rows.flatMap((row: readonly unknown[], y) =>
      row.flatMap((cell, x) => checkCell(cell, y === 0, `${at}/rows/${y}/${x}`)),
    ),
  ];
}

function checkCell(cell: unknown, isHeader: boolean, at: string): readonly string[] {
  if (!isObject(cell)) return [`must be an object [json-pointer:${at}]`];
  switch (cell['type']) {
    case 'raw_text':
      return need(cell['text'], `${at}/text`);
    case 'raw_number':
      return [
        ...need(cell['text'], `${at}/text`),
        ...(typeof cell['value'] === 'number' ? [] : [`must be a number [json-pointer:${at}/value]`]),
      ];
    case 'rich_text':
      return isHeader
        ? [`rich_text is not allowed in a header [json-pointer:${at}]`]
        : checkRichText(cell, at);
    default:
      return [`unsupported cell type: ${String(cell['type'])} [json-pointer:${at}/type]`];
  }
}

/** A rich text of one section, whose elements are text, links, or emoji. */
function checkRichText(value: unknown, at: string): readonly string[] {
  if (!isObject(value) || value['type'] !== 'rich_text' || !Array.isArray(value['elements']))
    return [`must be a rich_text [json-pointer:${at}]`];
  return value['elements'].flatMap((section: unknown, index) => {
    const place = `${at}/elements/${index}`;
    if (!isObject(section) || section['type'] !== 'rich_text_section' || !Array.isArray(section['elements']))
      return [`must be a rich_text_section [json-pointer:${place}]`];
    if (section['elements'].length === 0) return [`no less than 1 item allowed [json-pointer:${place}]`];
    return section['elements'].flatMap((element: unknown, each) => {
      const there = `${place}/elements/${each}`;
      if (!isObject(element)) return [`must be an object [json-pointer:${there}]`];
      if (element['type'] === 'link') return need(element['url'], `${there}/url`);
      return element['type'] === 'text'
        ? need(element['text'], `${there}/text`)
        : [`unsupported type: ${String(element['type'])} [json-pointer:${there}/type]`];
    });
  });
}

/** Characters of the cells of all tables of a message. */
export function cellsLength(blocks: readonly unknown[]): number {
  const lengthOf = (value: unknown): number => {
    if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + lengthOf(item), 0);
    if (!isObject(value)) return 0;
    const own = typeof value['text'] === 'string' ? value['text'].length : 0;
    return own + lengthOf(value['elements'] ?? []);
  };
  return blocks.reduce<number>(
    (sum, block) => sum + (isObject(block) && block['type'] === 'data_table' ? lengthOf(block['rows']) : 0),
    0,
  );
}

function isBetween(value: unknown, least: number, most: number): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most;
}

function need(value: unknown, at: string): readonly string[] {
  if (typeof value !== 'string') return [`missing required field [json-pointer:${at}]`];
  return value === '' ? [`must be more than 0 characters [json-pointer:${at}]`] : [];
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
