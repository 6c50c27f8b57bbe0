import { startPostgres, type PostgresServer } from '../postgres.ts';

/** The stores that crash runs are made on. */
export const storeNames = ['embedded', 'postgres'] as const;
export type StoreName = (typeof storeNames)[number];

/** A fresh store of this kind; nothing where there are no binaries of a PostgreSQL server. */
export async function openStoreFor(
  store: StoreName,
): Promise<
  | Readonly<{ options: Readonly<{ storeUrl?: string }>; server?: PostgresServer; close(): Promise<void> }>
  | undefined
> {
  if (store === 'embedded') return { options: {}, close: async () => undefined };
  const server = await startPostgres();
  if (server === undefined) return undefined;
  return { options: { storeUrl: await server.database() }, server, close: server.close };
}
