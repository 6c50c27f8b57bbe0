import { setTimeout as delay } from 'node:timers/promises';
import { startPostgresPair } from '../postgres.ts';
import { runScale, type ScaleOptions, type ScaleResult } from '../scale/run-scale.ts';
import { startMovingAddress } from './moving-address.ts';
import { createBridge, databaseAddress, hostAddress, startMachine, type Machine } from './network.ts';

const port = 5432;
const readOnlyMs = 3_000;

/**
 * As `runScale`, with a machine for each process, which have only the database and the platform in common, and a standby of
 * the database (Q9). Nothing without PostgreSQL's binaries. To be called in a network of its own.
 */
export async function runMachines(
  options: ScaleOptions,
  { synchronous = true } = {},
): Promise<ScaleResult | undefined> {
  const server = await startPostgresPair({ synchronous });
  if (server === undefined) return undefined;
  createBridge();
  const address = await startMovingAddress({ host: databaseAddress, port }, server.sockets.primary);
  const machines: Machine[] = [];
  try {
    for (let number = 1; number <= options.processes; number++)
      machines.push(await startMachine(String.fromCharCode(96 + number), number));
    return await runScale(server, options, {
      machines,
      host: hostAddress,
      storeOf: (url) => `postgres://skillet@${databaseAddress}:${port}${new URL(url).pathname}`,
      async promote() {
        // The harder order: for a while the address leads to a server that can only be read.
        address.moveTo(server.sockets.standby);
        await delay(readOnlyMs);
        await server.promote();
      },
    });
  } finally {
    for (const machine of machines) await machine.close();
    await address.close();
    await server.close();
  }
}
