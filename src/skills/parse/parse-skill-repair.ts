import { isAccessLine } from '../access-line.ts';
import type { FrontProblem } from './front-value.ts';

/** Front matter after a repair, and the keys whose values were put in quotes. */
export type Repair = Readonly<{ yaml: string; keys: readonly string[] }>;

/**
 * Puts an unquoted top-level `name` or `description` that holds a colon, or begins with a character that no YAML text
 * begins with, into quotes (F4), and an `argument-hint` like
 * `[file] [count]` (F8); nothing when there is none. No other key is ever touched: a guess must not grant anything. Nor is
 * a line that grants or restricts something taken into a text: that is a problem.
 */
export function repairFrontMatter(yaml: string): Repair | FrontProblem | undefined {
  const lines = yaml.split('\n');
  const repaired: string[] = [];
  const keys: string[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    const [, hint, words] = /^(argument[-_]hint):[ \t]+([[<{].*[^\s])[ \t]*$/.exec(line) ?? [];
    if (hint !== undefined && words !== undefined) {
      repaired.push(`${hint}: ${quote(words)}`);
      keys.push(hint);
      continue;
    }
    const [, key, rest = ''] = /^(name|description):(?:[ \t]+(.*))?$/.exec(line) ?? [];
    const value = [rest.trim()];
    let next = at + 1;
    while (key !== undefined && /^[ \t]+\S/.test(lines[next] ?? '')) {
      value.push((lines[next] ?? '').trim());
      next += 1;
    }
    const text = value.filter((part) => part !== '').join('\n  ');
    const below = lines.slice(at + 1, next);
    if (key === undefined || !isPlain(text) || !/:(?:\s|$)|^[@`%,]/.test(text)) {
      repaired.push(line);
      continue;
    }
    const swallowed = below.findIndex(isAccessLine);
    if (swallowed !== -1) return indented(key, below[swallowed] ?? '', at + 2 + swallowed);
    repaired.push(`${key}: ${quote(text)}`);
    keys.push(key);
    at = next - 1;
  }
  return keys.length === 0 ? undefined : { yaml: repaired.join('\n'), keys };
}

function indented(above: string, text: string, line: number): FrontProblem {
  const key = text.trim().split(':')[0] ?? '';
  const message = `${key} is indented, so it would belong to ${above}: begin its line with it`;
  return { code: 'YAML_INDENT', message, line };
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** Neither quoted, nor a block, list, map, anchor, tag or comment. */
function isPlain(text: string): boolean {
  return !/^(?:["'|>[\]{}&*!#?]|-\s)/.test(text);
}
