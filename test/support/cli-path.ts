import path from 'node:path';

/** The program, as `node` starts it. */
export const cliPath = path.join(import.meta.dirname, '../../bin/skillet.js');
