/** Writes docs/reference from the code: `npm run docs:reference`. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { root } from './markdown.ts';
import { referencePages } from './pages.ts';

const folder = path.join(root, 'docs/reference');
mkdirSync(folder, { recursive: true });
for (const [name, text] of Object.entries(referencePages())) writeFileSync(path.join(folder, name), text);
