import { fail, type Envelope } from '../core/envelope.ts';
import { oneLine } from '../lib/text/text.ts';
import type { Tool } from '../core/tool.ts';
import type { Ceiling } from './ceiling.ts';

/** What a call outside the ceiling is answered with: what may be called instead (T5). */
export function notAllowed(
  name: string,
  tools: ReadonlyMap<string, Tool>,
  ceiling: Pick<Ceiling, 'names' | 'commands'>,
): Envelope {
  const available = ceiling.names.filter((known) => tools.has(known));
  if (available.includes(name) && ceiling.commands !== undefined) {
    const starts = ceiling.commands.join(' | ');
    return fail(
      'TOOL_NOT_ALLOWED',
      `${name} takes one simple command here, beginning with: ${starts} (no operators, expansions or line ends)`,
    );
  }
  const written = JSON.stringify(oneLine(name, 100));
  return fail(
    'TOOL_NOT_ALLOWED',
    `${written} is no tool you may use. Available: ${available.join(', ') || 'none'}`,
  );
}
