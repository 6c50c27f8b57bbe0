import { open } from 'node:fs/promises';
import type { Channel } from '../core/channel.ts';
import { FetchFileError } from '../core/errors.ts';
import { fixed, type Say } from '../core/texts/say.ts';

export const noFileToFetch: Channel['fetchFile'] = async () => {
  throw new FetchFileError('this channel fetches no files', { sentence: fixed`files can’t be read here` });
};

/** Saves a body to a new file (0600), and returns how many bytes it has. Throws FetchFileError above `maxBytes`. */
export async function saveFile(
  body: AsyncIterable<Uint8Array>,
  { path, maxBytes }: Readonly<{ path: string; maxBytes: number }>,
): Promise<number> {
  const handle = await open(path, 'wx', 0o600);
  try {
    let size = 0;
    for await (const chunk of body) {
      size += chunk.length;
      if (size > maxBytes) throw tooLarge(maxBytes);
      await handle.writeFile(chunk);
    }
    return size;
  } finally {
    await handle.close();
  }
}

export function tooLarge(maxBytes: number): FetchFileError {
  const sentence = (say: Say): string => say`larger than ${say.bytes(maxBytes)}`;
  return new FetchFileError(`a file is larger than ${maxBytes} bytes`, { sentence });
}
