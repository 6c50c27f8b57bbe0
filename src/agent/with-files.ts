import type Anthropic from '@anthropic-ai/sdk';
import { asWords, fileOf, saidUnshown } from './to-messages.ts';
import { invocationId } from './models/anthropic-request.ts';
import { estimateTokens } from './plan-compaction.ts';
import { callsOf } from './next-step.ts';
import type { Entry } from '../core/entry.ts';
import { ModelError } from '../core/errors.ts';
import type { Model, ModelRequest } from '../core/model.ts';
import type { ShownFile } from '../core/received.ts';
import type { Log } from '../lib/log.ts';

/** Remembers which files a model refused, until the process ends. */
type RefusedFiles = Readonly<{
  /** What the model said, or empty if it said nothing. Undefined for a file that it accepts. */
  why(alias: string, file: ShownFile): string | undefined;
  add(alias: string, file: ShownFile, why: string): void;
}>;

const mostRemembered = 10_000;

export function createRefusedFiles(): RefusedFiles {
  const refused = new Map<string, string>();
  return {
    why: (alias, { hash }) => refused.get(`${alias} ${hash}`),
    add(alias, { hash }, why) {
      if (refused.size >= mostRemembered) refused.clear();
      refused.set(`${alias} ${hash}`, why);
    },
  };
}

type Block = Anthropic.ContentBlockParam;

type FileReader = (file: ShownFile) => Promise<Buffer | undefined>;

/**
 * Adds the bytes of files as base64. Missing files become words, and a refused request is repeated without some of
 * them.
 */
export function withFiles(
  model: Model,
  { read, refused, log }: Readonly<{ read: FileReader; refused: RefusedFiles; log: Log }>,
): Model {
  const fill = createFill(model, { read, refused });

  function shownIn({ messages }: ModelRequest): readonly (readonly ShownFile[])[] {
    if (model.sees === false) return [];
    const shown = messages.map(({ content }) =>
      typeof content === 'string'
        ? []
        : content
            .flatMap((block) => fileOf(block) ?? [])
            .filter((file) => refused.why(model.alias, file) === undefined),
    );
    return shown.filter((files) => files.length > 0);
  }

  return {
    ...model,
    async complete(request, signal, onText) {
      for (;;) {
        try {
          return await model.complete(await fill(request), signal, onText);
        } catch (error) {
          if (!(error instanceof ModelError)) throw error;
          const files = leftOut(error, { request, shown: shownIn(request) });
          if (files.length === 0) throw error;
          for (const file of files) refused.add(model.alias, file, error.said ?? '');
          log.warn(
            { model: model.alias, files: files.map(({ name }) => name), cause: error.message },
            'the model refused files: it is asked without them',
          );
        }
      }
    },
  };
}

/** Makes the function that puts bytes, or words about what is missing, where a request names files. */
function createFill(
  model: Model,
  { read, refused }: Readonly<{ read: FileReader; refused: RefusedFiles }>,
): (request: ModelRequest) => Promise<ModelRequest> {
  async function fillBlock(block: Block): Promise<Block> {
    const file = fileOf(block);
    if (file === undefined) return block;
    if (model.sees === false) return asWords(file, 'can not be seen by this language model');
    const why = refused.why(model.alias, file);
    if (why !== undefined)
      return asWords(file, `was refused by this language model${why === '' ? '' : `: ${why}`}`);
    const bytes = await read(file);
    if (bytes?.length !== file.size) return asWords(file, 'is no longer kept');
    const source = { type: 'base64', media_type: file.mime, data: bytes.toString('base64') };
    return { type: file.type, source } as Block;
  }

  return async (request) => {
    const messages: Anthropic.MessageParam[] = [];
    for (const message of request.messages) {
      const { content } = message;
      if (typeof content === 'string' || !content.some((block) => fileOf(block))) messages.push(message);
      // Only one file is in memory at a time.
      else {
        const blocks = await inTurn(content, fillBlock);
        const unshown = content.flatMap((block, index) =>
          blocks[index]?.type === 'text' ? (fileOf(block) ?? []) : [],
        );
        messages.push({ ...message, content: saidUnshown(blocks, unshown) } as Anthropic.MessageParam);
      }
    }
    return { ...request, messages };
  };
}

/**
 * The files to leave out after a refusal: the newest, because the older ones were accepted before. If the request is
 * too large, the older ones. `shown` are the files of each message that had some.
 */
function leftOut(
  error: ModelError,
  { request, shown }: Readonly<{ request: ModelRequest; shown: readonly (readonly ShownFile[])[] }>,
): readonly ShownFile[] {
  const newest = shown.at(-1) ?? [];
  if (error.aboutFiles) return newest;
  const older = shown.slice(0, -1).flat();
  if (error.tooLarge) return older.length > 0 ? older : newest;
  return error.tooLong && areMost(newest, request) ? newest : [];
}

function areMost(files: readonly ShownFile[], request: ModelRequest): boolean {
  return estimateTokens(files) * 2 > estimateTokens(request.messages);
}

async function inTurn(blocks: readonly Block[], change: (block: Block) => Promise<Block>): Promise<Block[]> {
  const changed: Block[] = [];
  for (const block of blocks) changed.push(await change(block));
  return changed;
}

export function filesSent(
  entries: readonly Entry[],
  sender: string,
  toolUseId: string,
): readonly ShownFile[] | undefined {
  const call = entries.findIndex((entry) =>
    entry.kind === 'assistant'
      ? callsOf(entry).some(({ id }) => id === toolUseId)
      : entry.kind === 'user' && entry.item !== undefined && invocationId(entry.item) === toolUseId,
  );
  const before = call < 0 ? entries : entries.slice(0, call + 1);
  const theirs = before.flatMap((entry) => (entry.kind === 'user' && entry.sender === sender ? [entry] : []));
  const files = theirs
    .slice(theirs.findLastIndex(({ joins }) => joins === undefined))
    .flatMap((entry) => entry.files ?? []);
  const each = files.filter(({ hash }, index) => files.findIndex((one) => one.hash === hash) === index);
  return each.length === 0 ? undefined : each;
}
