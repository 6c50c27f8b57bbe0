#!/usr/bin/env node
// Plain JavaScript that any Node reads, so that an old one is told what is missing.
import process from 'node:process';

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
enableCompileCache();
const { main } = await import('../src/cli/main.ts');
await main(process.argv.slice(2));
