import type { Anthropic } from '@anthropic-ai/sdk/index.js';
import { unparsedInput } from '../../core/unparsed-input.ts';

/**
 * Keeps an answer whose call has arguments that are no JSON: the SDK would throw the whole answer away, again and again
 * where a model always writes so. Such a call is refused when it is made, and the model reads why.
 */
export function keepUnparsed(
  stream: Readonly<{
    on(
      event: 'streamEvent',
      listener: (event: Anthropic.MessageStreamEvent, snapshot: Anthropic.Message) => void,
    ): unknown;
  }>,
): void {
  const written = new Map<number, string>();
  stream.on('streamEvent', (event, { content }) => {
    if (event.type !== 'content_block_delta' || event.delta.type !== 'input_json_delta') return;
    const { index } = event;
    written.set(index, (written.get(index) ?? '') + event.delta.partial_json);
    const block = content[index];
    const parse = block && Object.getOwnPropertyDescriptor(block, 'input')?.get;
    // The SDK parses when it is asked for the value first, which is at the end of the block.
    if (parse !== undefined)
      Object.defineProperty(block, 'input', {
        enumerable: true,
        configurable: true,
        get: () => parsed(parse, written.get(index) ?? ''),
      });
  });
}

function parsed(parse: () => unknown, text: string): unknown {
  try {
    const input = parse();
    return typeof input === 'object' && input !== null && !Array.isArray(input) ? input : unparsedInput(text);
  } catch {
    return unparsedInput(text);
  }
}
