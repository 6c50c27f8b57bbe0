import path from 'node:path';
import { createRefusedFiles, withFiles } from '../agent/with-files.ts';
import type { Model } from '../core/model.ts';
import type { Log } from '../lib/log.ts';
import type { ReceivedFiles } from './received-files.ts';

/** Wraps a model so that it is shown the files of a conversation (M12). `chat` is the chat's folder. */
export type WithPictures = (model: Model, chat: string) => Model;

export function createWithPictures({
  received,
  log,
}: Readonly<{ received: ReceivedFiles; log: Log }>): WithPictures {
  const refused = createRefusedFiles();
  return (model, chat) => {
    const folder = path.basename(chat);
    return withFiles(model, { read: ({ hash, size }) => received.read(folder, hash, size), refused, log });
  };
}
