/** `import` of `node:http` would load `fetch`: 80 ms. */
export const { createServer, request } = process.getBuiltinModule('node:http');
