import type { Store } from '../store.ts';
import type { Connection } from './open-connection.ts';

/** `Store.forget` on the embedded store. */
export function createForget(connection: Connection): Store['forget'] {
  return async (sender) => {
    void connection;
    throw new Error(`forgetting ${sender} is not there yet`);
  };
}
