/**
 * Runs in a sandbox with network: it forwards loopback connections to the proxy's socket, runs the command of its
 * arguments and ends with it. It is mounted alone, so it imports nothing of the bot.
 */
import { spawn } from 'node:child_process';
import { connect, createServer } from 'node:net';
import { constants } from 'node:os';

const [port = '', socketPath = '', program = '', ...args] = process.argv.slice(2);

const server = createServer((client) => {
  const proxy = connect(socketPath);
  client.on('error', () => proxy.destroy()).pipe(proxy);
  proxy.on('error', () => client.destroy()).pipe(client);
});
server.listen(Number(port), '127.0.0.1', () => {
  const child = spawn(program, args, { stdio: 'inherit' });
  child.on('error', (error) => {
    console.error(error.message);
    process.exit(127);
  });
  child.on('exit', (code, signal) => {
    process.exit(code ?? 128 + (signal === null ? 0 : constants.signals[signal]));
  });
});
