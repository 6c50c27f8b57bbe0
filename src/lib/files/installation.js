import { existsSync } from 'node:fs';
import path from 'node:path';

// Plain JavaScript: it runs before the compile cache is open.

const code = path.join(import.meta.dirname, '../../..');

/** The folder with package.json, `skills/` and `node_modules/`. A package has its compiled code one level further down, in `dist/` (L11). */
export const installation = existsSync(path.join(code, 'package.json')) ? code : path.dirname(code);
