/** Where a value stands in the file: keys and list positions from the top. */
export type KeyPath = readonly (string | number)[];

/** The path as an operator would write it: `access.chats."slack:C1".dm`, `plugins[0].path`. */
export function formatKeyPath(path: KeyPath): string {
  return path
    .map((part, index) => {
      if (typeof part === 'number') return `[${part}]`;
      return `${index === 0 ? '' : '.'}${/^[\w-]+$/.test(part) ? part : JSON.stringify(part)}`;
    })
    .join('');
}

/** The value at a path; nothing where the path leads nowhere. */
export function valueAt(data: unknown, path: KeyPath): unknown {
  return path.reduce<unknown>(
    (value, part) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, part)
        ? (value as Readonly<Record<string | number, unknown>>)[part]
        : undefined,
    data,
  );
}
