/**
 * The provider's process: one request on standard input, one answer on standard output. It ends with 0 whenever it could
 * answer, and with 1 and words on standard error where it could not.
 */
import { text } from 'node:stream/consumers';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { answer } from './answer.ts';
import { openStorage } from './open-storage.ts';
import { idOf } from './parse-request.ts';
import { Refusal } from './refusal.ts';

const { values } = parseArgs({
  options: {
    data: { type: 'string', default: path.join(process.env['HOME'] ?? '.', '.skillet-notes') },
    page: { type: 'string', default: 'http://127.0.0.1:8765' },
    flow: { type: 'string', default: 'code' },
  },
});
const { data, page, flow } = values;
if (flow !== 'code' && flow !== 'device') throw new Error(`--flow is code or device, not ${flow}`);

const request: unknown = JSON.parse(await text(process.stdin));
const id = idOf(request);
if (id === undefined) throw new Error('the request has no id, so it can not be answered');

const storage = openStorage(data);
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
