import { openStore } from '../../src/store/open-store.ts';

/** Opens the store given on the command line, says so, and keeps it until standard input ends. */
const [url = ''] = process.argv.slice(2);
const store = await openStore(url).catch((error: unknown) => {
  process.stdout.write(`refused ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
process.stdout.write('open\n');
for await (const _ of process.stdin);
await store.close();
