import { crc32, deflateSync } from 'node:zlib';
import { ModelError } from '../../core/errors.ts';
import {
  resolveModel,
  type Model,
  type ModelAnswer,
  type ModelRequest,
  type ModelSettings,
  type ModelsSettings,
} from '../../core/model.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { createModels } from './create-models.ts';
import { modelAddress } from './model-place.ts';

/** `message` is what the server said, `fix` what to do about it, as a sentence. */
export type ModelProbe =
  Readonly<{ ok: true; model: string; ms: number }> | Readonly<{ ok: false; message: string; fix: string }>;

/** What a model was asked to do, and why it can't. Undefined if it can. */
export type Ability = Readonly<{ name: 'stream' | 'tool call' | 'picture'; lacks: string | undefined }>;

type Probing = Readonly<{ name?: string; clock: Clock; log: Log }>;

const patienceMs = 20_000;

/** Asks a model for one word in the same way as a turn does. */
export async function probeModel(
  models: ModelsSettings,
  { name = 'default', clock, log }: Probing,
): Promise<ModelProbe> {
  const before = clock.now();
  const model = createModels(models, { log, clock }).get(name);
  try {
    const answer = await ask(model, said('Answer with the one word: ok'));
    return { ok: true, model: answer.model, ms: clock.now() - before };
  } catch (error) {
    const settings = resolveModel(models, name) ?? resolveModel(models, 'default');
    return { ok: false, message: whyOf(error), fix: fixOf(error, settings) };
  }
}

/** Asks a model that answers for a stream, a tool call and a picture, and says what it can't do (M17). */
export async function probeAbilities(
  models: ModelsSettings,
  { name = 'default', clock, log }: Probing,
): Promise<readonly Ability[]> {
  const model = createModels(models, { log, clock }).get(name);
  const lacks = async (
    request: ModelRequest,
    judge: (answer: ModelAnswer, pieces: number) => string | undefined,
  ) => {
    let pieces = 0;
    try {
      return judge(await ask(model, request, () => pieces++), pieces);
    } catch (error) {
      return whyOf(error);
    }
  };
  const stream = await lacks(said('Count from 1 to 30 in digits, with spaces between.'), (_, pieces) =>
    pieces > 1 ? undefined : 'the answer arrives in one piece, so people wait for all of it',
  );
  const call = await lacks(
    { ...said('Call the tool note_word with the word ok.'), tools: [tool] },
    ({ content }) =>
      content.some((block) => block.type === 'tool_use' && block.name === tool.name)
        ? undefined
        : 'it answers in words instead, so it can start no skill',
  );
  const seen = await lacks(
    said('Which colour is this picture? Answer with one English word.', picture()),
    (answer) =>
      /\bred\b/i.test(wordsOf(answer))
        ? undefined
        : `it does not see that a red square is red: "${wordsOf(answer)}"`,
  );
  return [
    { name: 'stream', lacks: stream },
    { name: 'tool call', lacks: call },
    { name: 'picture', lacks: seen },
  ];
}

const tool = {
  name: 'note_word',
  description: 'Notes a word.',
  input_schema: { type: 'object' as const, properties: { word: { type: 'string' } }, required: ['word'] },
};

type Block = Exclude<ModelRequest['messages'][number]['content'], string>[number];

function said(text: string, ...before: readonly Block[]): ModelRequest {
  return {
    system: [],
    messages: [{ role: 'user', content: [...before, { type: 'text', text }] }],
    tools: [],
  };
}

/** Throws an Error that says so if there is no answer in time. */
async function ask(model: Model, request: ModelRequest, onText?: () => void): Promise<ModelAnswer> {
  const over = AbortSignal.timeout(patienceMs);
  try {
    return await model.complete(request, over, onText);
  } catch (error) {
    if (!over.aborted) throw error;
    throw new ModelError(`no answer within ${patienceMs / 1_000} s`, { sentence: '', passing: true });
  }
}

function whyOf(error: unknown): string {
  if (!(error instanceof ModelError)) throw error;
  return (error.forOperator?.said ?? error.message).replace(/\.$/, '');
}

/** What to do about a model that does not answer. */
function fixOf(error: unknown, settings: ModelSettings | undefined): string {
  const { look, passing } =
    error instanceof ModelError ? { passing: error.passing, look: error.forOperator?.look } : {};
  const { api, model = '', baseUrl } = settings ?? {};
  const address = settings === undefined ? undefined : modelAddress(settings);
  if (look === 'key' && (api === 'bedrock' || api === 'vertex'))
    return `Check that the credentials of this machine may use ${model}, and that it is enabled in the region.`;
  if (look === 'key') return 'Check the API key: it may be of another provider, or no longer valid.';
  if (look === 'account') return 'Add credit to the account of the key, or raise its limit.';
  if (look === undefined && passing === true)
    return `Check that a server answers at ${address ?? 'its address'}, and that this machine may reach it.`;
  const versioned = api === 'openai' && baseUrl !== undefined && !/\/v\d|\/openai/.test(baseUrl);
  return versioned
    ? `Check the name of the model ("${model}") and base_url: most servers of Chat Completions want /v1 at its end.`
    : `Check the name of the model ("${model}") and base_url${address === undefined ? '' : ` (${address})`}.`;
}

function wordsOf({ content }: ModelAnswer): string {
  return content
    .flatMap((block) => (block.type === 'text' ? [block.text] : []))
    .join(' ')
    .trim()
    .slice(0, 60);
}

const side = 64;

/** A red square as PNG. */
function picture(): Block {
  const line = Buffer.concat([Buffer.from([0]), Buffer.alloc(side * 3, Buffer.from([220, 20, 20]))]);
  const head = Buffer.alloc(13);
  head.writeUInt32BE(side, 0);
  head.writeUInt32BE(side, 4);
  head.set([8, 2], 8);
  const data = deflateSync(Buffer.concat(Array.from({ length: side }, () => line)));
  const png = [
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', head),
    chunk('IDAT', data),
    chunk('IEND', Buffer.alloc(0)),
  ];
  return {
    type: 'image',
    source: { type: 'base64', media_type: 'image/png', data: Buffer.concat(png).toString('base64') },
  };
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data]);
  const ends = Buffer.alloc(8);
  ends.writeUInt32BE(data.length, 0);
  ends.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([ends.subarray(0, 4), body, ends.subarray(4)]);
}
