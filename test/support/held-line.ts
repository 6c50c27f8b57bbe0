import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import path from 'node:path';
import type { TestContext } from 'node:test';

/**
 * A line to the server that can be held: what is sent goes nowhere, and nobody hangs up. The same happens to the first
 * connection on which one of `words` is said.
 */
export async function startLine(
  context: TestContext,
  socket: string,
  words: readonly string[] = [],
  /** From this word on everything is held. */
  holdAt?: string,
) {
  const state = { held: false };
  const unsaid = new Set(words);
  const open = new Set<Socket>();
  const line = createServer((from) => {
    const to = connect(path.resolve(socket));
    from.on('data', (chunk: Buffer) => {
      if (holdAt !== undefined && chunk.includes(holdAt)) state.held = true;
      const said = [...unsaid].find((word) => chunk.includes(word));
      if (said === undefined || !unsaid.delete(said)) return;
      for (const one of [from, to]) one.removeAllListeners('data').resume();
    });
    for (const [one, other] of [
      [from, to],
      [to, from],
    ] as const) {
      open.add(one);
      one.on('data', (chunk) => void (state.held || other.write(chunk)));
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroy());
    }
  }).listen(0, '127.0.0.1');
  await once(line, 'listening');
  context.after(() => {
    for (const one of open) one.destroy();
    line.close();
  });
  const address = line.address();
  assert.ok(typeof address === 'object' && address !== null);
  return { port: address.port, unsaid, hold: (held: boolean) => void (state.held = held) };
}
