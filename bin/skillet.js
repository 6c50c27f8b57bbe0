#!/usr/bin/env -S MALLOC_MMAP_THRESHOLD_=32768 node --max-semi-space-size=2 --expose-gc
// Plain JavaScript that any Node reads, so that an old one is told what is missing. What stands before and after `node`
// costs a bot that mostly waits nothing: a small young generation saves some 25 MB, larger blocks on pages of their own
// (glibc), which go back to the system when they are freed, some 10 MB, and leave to tidy up in quiet times another 10 MB.
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
