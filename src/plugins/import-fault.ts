import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';
import { oneLine } from '../lib/text/text.ts';

/**
 * Why a plugin's file could not be imported, in words for its author and operator: what, in which file and line, and what to
 * do. `file` is the one that was to be imported.
 */
export function describeImportFault(error: unknown, file: string): string {
  if (!(error instanceof Error)) return `it threw ${shownOf(error)} as it was loaded`;
  const at = placeIn(String(error.stack), file);
  const code = 'code' in error ? error.code : undefined;
  const said = String(error.message).split('\n')[0] ?? '';
  switch (code) {
    case 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX':
      return `${at}: ${said}. Node runs TypeScript by leaving the types out, so enum, namespace with code, parameter properties and import = can't be used: write an object, a module, fields and a plain import. "erasableSyntaxOnly": true in tsconfig.json tells it in the editor`;
    case 'ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING':
      return `${said}. Packages have to bring JavaScript`;
    case 'ERR_MODULE_NOT_FOUND':
      return `${said}: ${/^Cannot find package/.test(said) ? 'install it there with npm install' : 'fix the import; relative ones carry the ending of the file, such as ./weather.ts'}`;
    case 'ERR_INVALID_TYPESCRIPT_SYNTAX':
      return `${at}: syntax error: ${said}`;
    default:
  }
  if (error instanceof SyntaxError) {
    const type = /does not provide an export named '(\w+)'/.exec(said)?.[1];
    const hint = type === undefined ? '' : `. Where ${type} is a type, write import type { ${type} }`;
    return `${at}: syntax error: ${said}${hint}`;
  }
  return `${at}: it threw as it was loaded: ${said || error.name}`;
}

function shownOf(thrown: unknown): string {
  if (typeof thrown === 'string') return JSON.stringify(oneLine(thrown, 200));
  return oneLine(inspect(thrown, { depth: 1, customInspect: false }), 200);
}

/** `FILE:LINE`: a syntax error's own, or the first line of the plugin's file in the stack; else the file alone. */
function placeIn(stack: string, file: string): string {
  const lines = stack.split('\n');
  const own = /^((?:file:\/\/)?\/.+):(\d+)$/.exec(lines[0] ?? '');
  if (own?.[1] !== undefined) return `${pathOf(own[1])}:${own[2]}`;
  const frames = lines.map((line) => /(file:\/\/\/[^)]+|\/[^)]+):(\d+):\d+\)?$/.exec(line));
  const frame = frames.find((one) => one?.[1] !== undefined && pathOf(one[1]) === file);
  return frame?.[2] === undefined ? file : `${file}:${frame[2]}`;
}

function pathOf(address: string): string {
  return address.startsWith('file:') ? fileURLToPath(address) : address;
}
