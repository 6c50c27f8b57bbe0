#!/usr/bin/env -S MALLOC_MMAP_THRESHOLD_=32768 node --max-semi-space-size=4 --expose-gc
// Plain JavaScript that any Node reads, so that an old one says what is missing. The flags save memory, in MB resident
// after 60 answers and 8 quiet seconds: 114 with all, 186 with none, 126 without the first (glibc returns larger freed
// blocks), 131 without the last (`give-memory-back.ts`). Without the second, a bot may hold 30 more after its first
// answer; 2 instead of 4 saves nothing at rest, and makes the own time of an answer some 5 % longer.
import { existsSync } from 'node:fs';
import process from 'node:process';
import { setTimeout } from 'node:timers';

// A clone has the sources, a package what `build-package.ts` made of them.
const isClone = existsSync(new URL('../src', import.meta.url));
const needed = 24;
const major = Number(process.versions.node.split('.')[0]);
if (major < needed) {
  console.error(
    `Skillet needs Node ${needed} or newer; this is ${process.versions.node}.\n` +
      (isClone
        ? 'In a clone, `npm install` brings one along: use `npm start`, or `npm run -s skillet -- COMMAND`.'
        : `Let npm bring one along: \`npx -p node@${needed} skillet COMMAND\`, in the folder where you installed Skillet.`),
  );
  process.exit(2);
}
const { enableCompileCache } = await import('node:module');
const { compileCacheFolder, untrustedCompileCache } = await (isClone
  ? import('../src/cli/compile-cache.js')
  : // @ts-ignore It is in a package only.
    import('../dist/src/cli/compile-cache.js'));
const untrusted = untrustedCompileCache();
if (untrusted !== undefined) {
  console.error(untrusted);
  process.exit(2);
}
const cache = compileCacheFolder();
if (cache !== undefined) enableCompileCache(cache);
const { main } = await (isClone
  ? import('../src/cli/main.ts')
  : // @ts-ignore It is in a package only.
    import('../dist/src/cli/main.js'));
await main(process.argv.slice(2));
// All is done; what a plugin left open must not keep the process.
setTimeout(() => process.exit(), 1_000).unref();
