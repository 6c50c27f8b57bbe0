import { spawn } from 'node:child_process';
import { readFileSync, writeSync } from 'node:fs';

/** A bridge that misbehaves in the way its first argument names. */
const [, , fault = '', ...more] = process.argv;
const { id } = JSON.parse(readFileSync(0, 'utf8')) as { id: string };
const answer = (result: unknown = { output: { fine: true } }): string =>
  JSON.stringify({ version: 1, id, result });

/** Something that stays behind and holds what is named; gives its number. */
function leaveBehind(stdio: 'inherit' | 'ignore', detached: boolean): number | undefined {
  const child = spawn('/bin/sleep', ['600'], { stdio: ['ignore', stdio, 'ignore'], detached });
  writeSync(2, `pid=${child.pid}\n`);
  child.unref();
  return child.pid;
}

switch (fault) {
  case 'none':
    writeSync(1, answer());
    break;
  case 'silence':
    break;
  case 'partial':
    writeSync(1, answer().slice(0, -3));
    break;
  case 'two':
    writeSync(1, `${answer()}\n${answer()}\n`);
    break;
  case 'nested':
    writeSync(1, answer({ output: { a: 'x' } }).replace('"x"', `${'['.repeat(50_000)}${']'.repeat(50_000)}`));
    break;
  case 'many':
    writeSync(1, answer({ output: { rows: Array.from({ length: 100_001 }, () => 0) } }));
    break;
  case 'array':
    writeSync(1, '[]');
    break;
  case 'huge': {
    const block = Buffer.alloc(65_536, 'a');
    for (let sent = 0; sent < 100 * 1024 * 1024; sent += block.length) writeSync(1, block);
    break;
  }
  case 'wrong id':
    writeSync(1, JSON.stringify({ version: 1, id: 'another', result: { output: {} } }));
    break;
  case 'wrong version':
    writeSync(1, JSON.stringify({ version: 2, id, result: { output: {} } }));
    break;
  case 'both':
    writeSync(
      1,
      JSON.stringify({
        ...{ version: 1, id, result: { output: {} } },
        error: { code: 'capability_not_found', message: '' },
      }),
    );
    break;
  case 'neither':
    writeSync(1, JSON.stringify({ version: 1, id }));
    break;
  case 'unknown code':
    writeSync(1, JSON.stringify({ version: 1, id, error: { code: 'oops', message: 'no' } }));
    break;
  case 'error':
    writeSync(
      1,
      JSON.stringify({ version: 1, id, error: { code: more[0], message: 'as the provider says' } }),
    );
    break;
  case 'no output':
    writeSync(1, answer({ something: 'else' }));
    break;
  case 'latin1':
    writeSync(1, Buffer.from([0x7b, 0xff, 0x7d]));
    break;
  case 'exit 1':
    writeSync(1, answer());
    process.exitCode = 1;
    break;
  case 'crash':
    process.kill(process.pid, 'SIGSEGV');
    break;
  case 'hang':
    leaveBehind('ignore', true);
    setInterval(() => undefined, 1_000);
    break;
  case 'fork that holds':
    leaveBehind('inherit', true);
    writeSync(1, answer());
    break;
  case 'fork that stays':
    writeSync(1, answer({ output: { left: leaveBehind('ignore', false) } }));
    break;
  case 'environment':
    writeSync(1, answer({ output: { environment: { ...process.env } } }));
    break;
}
