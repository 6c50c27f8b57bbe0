/**
 * Runs in a sandbox as `skillet-cap`: it sends its words and, for `invoke`, its standard input to the host's socket and
 * prints the answer. It is mounted alone, so it imports nothing of the bot.
 */
import { connect } from 'node:net';

const [socketPath = '', ...words] = process.argv.slice(2);

// Otherwise a script that reads lines in a loop would lose the rest.
const reads = words[0] === 'invoke' && !words.includes('--input') && !process.stdin.isTTY;
const chunks: Buffer[] = [];
if (reads) for await (const chunk of process.stdin) chunks.push(chunk as Buffer);

const socket = connect(socketPath);
const answer: string[] = [];
socket.setEncoding('utf8');
socket.on('error', () => {
  console.error('skillet-cap: the bot does not answer');
  process.exit(3);
});
socket.on('data', (text: string) => answer.push(text));
socket.on('end', () => {
  if (answer.length === 0) {
    console.error('skillet-cap: the bot gave no answer');
    process.exit(3);
  }
  const { stdout, stderr, exitCode } = JSON.parse(answer.join('')) as Record<'stdout' | 'stderr', string> & {
    exitCode: number;
  };
  process.stderr.write(stderr);
  process.stdout.write(stdout);
  process.exitCode = exitCode;
});
socket.end(JSON.stringify({ words, input: Buffer.concat(chunks).toString('utf8') }));
