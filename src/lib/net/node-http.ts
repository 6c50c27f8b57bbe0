/**
 * The parts of `node:http` that run, without what importing it brings along: reading all its names for an import loads the
 * whole of `fetch` (80 ms of processor time for each process, whether it fetches anything or not).
 */
export const { createServer, request } = process.getBuiltinModule('node:http');
