import { accessFields } from './parse/read-fields.ts';

/** Whether a line of front matter, wherever it stands, begins with a key that grants or restricts something (F8). */
export function isAccessLine(line: string): boolean {
  const [, key = ''] = /^\s*(?:-\s+)?["']?([A-Za-z_-]+)["']?[ \t]*:/.exec(line) ?? [];
  return accessFields.has(key.replaceAll('-', '_'));
}
