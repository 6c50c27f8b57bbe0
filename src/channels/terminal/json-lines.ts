import type { Socket } from 'node:net';
import { StringDecoder } from 'node:string_decoder';

/** Characters of one line: a message with room to spare. */
const longestLine = 4_000_000;

/** Gives each line that arrives as data; ends the connection at what is no JSON or has no end. A last line needs no line end. */
export function readJsonLines(socket: Socket, onLine: (value: unknown) => void): void {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  const take = (line: string): void => {
    if (line.trim() === '') return;
    try {
      onLine(JSON.parse(line) as unknown);
    } catch (error) {
      socket.destroy(new Error('a line could not be read', { cause: error }));
    }
  };
  socket.on('data', (chunk: Buffer) => {
    const lines = (rest + decoder.write(chunk)).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > longestLine) socket.destroy(new Error('a line has no end'));
    else lines.forEach(take);
  });
  socket.on('end', () => take(rest));
}

/** Writes one line; nothing where the connection has ended. */
export function writeJsonLine(socket: Socket, value: unknown): void {
  if (socket.writable) socket.write(`${JSON.stringify(value)}\n`);
}
