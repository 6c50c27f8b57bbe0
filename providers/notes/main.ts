/**
 * The provider's process: one request on standard input, one answer on standard output. It ends with 0 whenever it could
 * answer, and with words on standard error where it could not: 1, or 2 where it was started wrongly.
 */
import { text } from 'node:stream/consumers';
import path from 'node:path';
import { answer } from './answer.ts';
import { end, readOptions } from './command-line.ts';
import { openStorage, type Storage } from './open-storage.ts';
import { idOf } from './parse-request.ts';
import { Refusal } from './refusal.ts';

const { data, page, flow } = readOptions({
  data: path.join(process.env['HOME'] ?? '.', '.skillet-notes'),
  page: 'http://127.0.0.1:8765',
  flow: 'code',
});
if (flow !== 'code' && flow !== 'device') end(2, `--flow is code or device, not ${flow}`);
if (!URL.canParse(page)) end(2, `--page is an address, such as http://127.0.0.1:8765, not ${page}`);

const request = parse(await text(process.stdin));
const id = idOf(request);
if (id === undefined) end(1, 'the request is no JSON object with an id, so it can not be answered');

const storage = open(data);
const outcome = await answer(request, {
  storage,
  page: page.replace(/\/+$/, ''),
  flow,
  now: () => Date.now(),
  publicJwk: process.env['SKILLET_PUBLIC_JWK'],
}).then(
  (result) => ({ result }),
  (error: unknown) => {
    if (!(error instanceof Refusal)) throw error;
    return { error: { code: error.code, message: error.message } };
  },
);
storage.close();
process.stdout.write(`${JSON.stringify({ version: 1, id, ...outcome })}\n`);

function parse(input: string): unknown {
  try {
    return JSON.parse(input);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function open(folder: string): Storage {
  try {
    return openStorage(folder);
  } catch (error) {
    return end(1, `--data ${folder}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
