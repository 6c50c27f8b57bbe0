import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { cliPath } from '../support/cli-path.ts';
import { noPostgres, startPostgres } from '../support/postgres.ts';
import { copyPatched, type Patch } from '../support/rolling/copy-version.ts';
import { runRolling } from '../support/rolling/run-rolling.ts';

const server = await startPostgres();
after(() => server?.close());

/** The long form: `npm run test:rolling`. */
const thorough = process.env['SKILLET_ROLLING'] === 'long';
const size = thorough ? { people: 8, rounds: 5 } : { people: 2, rounds: 1 };

/** A step more, and a field in each message, entry and part that this version does not know. */
const next: readonly Patch[] = [
  {
    file: 'src/store/postgres/schema.ts',
    // After the last step, whichever that is.
    find: '\n];\n',
    put: "\n  `ALTER TABLE skillet.inbox ADD COLUMN colour text NOT NULL DEFAULT 'red'`,\n];\n",
  },
  {
    file: 'src/store/stored-message.ts',
    find: '  platformId: z.string().optional(),',
    put: '  platformId: z.string().optional(), tint: z.string().optional(),',
  },
  {
    file: 'src/store/grow-item.ts',
    find: '[{ message, glue: ',
    put: "[{ message: { ...message, tint: 'red' }, glue: ",
  },
  {
    file: 'src/store/stored-message.ts',
    find: '  markdown: z.string(),',
    put: '  markdown: z.string(), tint: z.string().optional(),',
  },
  {
    file: 'src/store/stored-entry.ts',
    find: "    kind: z.literal('assistant'),",
    put: "    kind: z.literal('assistant'), tint: z.string().optional(),",
  },
  {
    file: 'src/store/postgres/create-commit.ts',
    find: 'JSON.stringify(entry)',
    put: "JSON.stringify(entry.kind === 'assistant' ? { ...entry, tint: 'red' } : entry)",
  },
  {
    file: 'src/store/postgres/create-commit.ts',
    find: 'JSON.stringify(part)',
    put: "JSON.stringify({ ...part, tint: 'red' })",
  },
];

test('Q15 Q5 this version beside the next one, forward and back out with kills: each message has its answer, once and in order', async (t) => {
  if (server === undefined) return t.skip(noPostgres);
  const said = await runRolling(t, server, { older: cliPath, newer: copyPatched(t, next), ...size });
  assert.ok(said > 0);
});
