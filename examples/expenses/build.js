// Packages bring JavaScript: plugin.ts without its types.
import { readFileSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';

const source = readFileSync(new URL('plugin.ts', import.meta.url), 'utf8');
writeFileSync(new URL('plugin.js', import.meta.url), stripTypeScriptTypes(source));
