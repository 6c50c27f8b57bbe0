import type { Store } from '../store.ts';
import type { Database } from './open-database.ts';

/** `Store.forget` on PostgreSQL. */
export function createForget(database: Database): Store['forget'] {
  return async (sender) => {
    void database;
    throw new Error(`forgetting ${sender} is not there yet`);
  };
}
