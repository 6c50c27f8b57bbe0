import { z } from 'zod';
import { nearest } from '../lib/text/text.ts';

/** Tools of the main agent where config names none (T2). */
const byDefault = [
  'use_skill',
  'skills_list',
  'skills_search',
  'skills_load',
  'skills_read_file',
  'send_file',
] as const;

/** Every built-in tool that the main agent can be given (T2). */
export const mainTools: readonly string[] = [
  ...byDefault,
  'bash',
  'read_file',
  'write_file',
  'list_files',
  'web_fetch',
  'web_search',
];

/** `[agent] tools`: a name that is none of these would take a tool away unnoticed. */
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
