#!/usr/bin/env -S MALLOC_MMAP_THRESHOLD_=32768 node --max-semi-space-size=2 --expose-gc
// Plain JavaScript that any Node reads, so that an old one says what is missing. The flags save memory, in MB resident
// after 60 answers and 8 quiet seconds: 114 with all, 186 with none, 126 without the first (glibc returns larger freed
// blocks), 131 without the last (`give-memory-back.ts`). Without the second, a bot may hold 30 more after its first answer.
import process from 'node:process';
import { setTimeout } from 'node:timers';

const needed = 24;
const major = Number(process.versions.node.split('.')[0]);
if (major < needed) {
  console.error(
    `Skillet needs Node ${needed} or newer; this is ${process.versions.node}.\n` +
      'In a clone, `npm install` brings one along: use `npm start`, or `npm run skillet -- COMMAND`.',
  );
  process.exit(2);
}
const { enableCompileCache } = await import('node:module');
const { compileCacheFolder, untrustedCompileCache } = await import('../src/cli/compile-cache.js');
const untrusted = untrustedCompileCache();
if (untrusted !== undefined) {
  console.error(untrusted);
  process.exit(2);
}
const cache = compileCacheFolder();
if (cache !== undefined) enableCompileCache(cache);
const { main } = await import('../src/cli/main.ts');
await main(process.argv.slice(2));
// All is done; what a plugin left open must not keep the process.
setTimeout(() => process.exit(), 1_000).unref();
