import path from 'node:path';
import { createRefusedFiles, withFiles } from '../agent/with-files.ts';
import type { Log } from '../lib/log.ts';
import type { Model } from '../core/model.ts';
import type { ReceivedFiles } from './received-files.ts';

/** The model as it sees the files that were sent to a conversation, whose folder is `chat` (M12). */
export type Seeing = (model: Model, chat: string) => Model;

export function createSeeing({
  received,
  log,
}: Readonly<{ received: Pick<ReceivedFiles, 'read'>; log: Log }>): Seeing {
  const refused = createRefusedFiles();
  return (model, chat) => {
    const folder = path.basename(chat);
    return withFiles(model, { read: ({ hash, size }) => received.read(folder, hash, size), refused, log });
  };
}
