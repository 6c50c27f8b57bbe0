import { closeSync, openSync } from 'node:fs';
import { startWatchdog } from '../../src/operator/health/watchdog.ts';

/**
 * Stands still for ever at "block", ends well at "end". At "fill" it waits for a reader of its log. Arguments: the PATH
 * of the watchdog, and "hungry" if every file descriptor is taken when it starts.
 */
const [, , path, hungry] = process.argv;
const taken: number[] = [];
try {
  while (hungry !== undefined) taken.push(openSync('/dev/null', 'r'));
} catch {
  // That was the last one.
}
startWatchdog(
  {
    warn(fields, message) {
      for (const file of taken.splice(0)) closeSync(file);
      console.error(JSON.stringify({ ...fields, message }));
    },
  },
  { silenceSeconds: 0.6, roundSeconds: 0.2, path },
);
process.stdin.on('data', (said: Buffer) => {
  if (said.toString().includes('fill')) process.stderr.write('x'.repeat(4_000_000));
  // A write may be in the background, where nobody reads.
  if (/block|fill/.test(said.toString())) for (;;);
  if (said.toString().includes('end')) process.exit(0);
});
if (hungry === undefined) console.log('watched');
