import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';

/** A folder with a `plugin.ts` (or the file that `name` says), as an author would write it; gone with the test. */
export async function makePlugin(t: TestContext, source: string, name = 'plugin.ts'): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'skillet-plugin-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  await writeFile(path.join(folder, name), source);
  return folder;
}

/** A plugin with one tool, whose options are these lines; `run` gives `'it ran'` where they have none. */
export function onePlugin(
  tool: string,
  { name = 'one', more = '' }: Readonly<{ name?: string; more?: string }> = {},
): string {
  const run = /\brun\b/.test(tool) ? '' : "run: () => 'it ran',";
  return `import { definePlugin, defineTool } from 'skillet/plugin';
import { z } from 'zod';
export default definePlugin({
  name: '${name}', ${more}
  tools: ({ config, bot, log }) => [
    defineTool({ description: 'Does one thing.', input: z.object({}), ${tool}, ${run} }),
  ],
});
`;
}
