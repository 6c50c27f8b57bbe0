/** An `import` of `node:http` reads all its names, which loads `fetch`: 80 ms a process. */
export const { createServer, request } = process.getBuiltinModule('node:http');
