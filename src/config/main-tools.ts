import { z } from 'zod';
import { builtInNames } from '../core/built-in-tools.ts';
import { nearest } from '../lib/text/text.ts';

const byDefault = builtInNames(({ main }) => main === 'kept' || main === 'default');
const mainTools = [...byDefault, ...builtInNames(({ main }) => main === 'named')];

/** `[agent] tools` (T2): an unknown name would take a tool away unnoticed. */
export const mainToolsKey = z
  .array(
    z.string().refine((name) => mainTools.includes(name), {
      error: ({ input }) => whatToWrite(String(input)),
    }),
  )
  .default([...byDefault]);

function whatToWrite(name: string): string {
  const [guess] = nearest(name, mainTools);
  if (guess !== undefined) return `no tool of the main agent is called that: write "${guess}"`;
  return `the main agent may have ${mainTools.join(', ')}; tools of plugins and MCP servers come by themselves`;
}
