import { startWatchdog } from '../../src/operator/health/watchdog.ts';

// Stands still for ever at "block", ends well at "end".
startWatchdog({ warn: (...words) => console.error(words) }, { rounds: 3, roundSeconds: 0.2 });
process.stdin.on('data', (said: Buffer) => {
  if (said.toString().includes('block')) for (;;);
  process.exit(0);
});
console.log('watched');
