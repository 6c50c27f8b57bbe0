/** `import` of `node:http` would load `fetch`, which takes 80 ms. */
export const { createServer, request } = process.getBuiltinModule('node:http');
