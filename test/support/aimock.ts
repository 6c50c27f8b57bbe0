import { LLMock } from '@copilotkit/aimock';
import type { TestContext } from 'node:test';
import type { AnswerBlock } from '../servers/messages/answer.ts';

/** A model server that others wrote, which answers "Hello" with this. Returns its address. */
export async function serveAimock(t: TestContext, content: readonly AnswerBlock[]): Promise<string> {
  const mock = new LLMock({ port: 0, host: '127.0.0.1' });
  const text = content.find((block) => block.type === 'text')?.text;
  const calls = content.flatMap((block) =>
    block.type === 'tool_use' ? [{ name: block.name, arguments: JSON.stringify(block.input) }] : [],
  );
  mock.onMessage('Hello', {
    ...(text === undefined ? {} : { content: text }),
    ...(calls.length === 0 ? {} : { toolCalls: calls }),
  });
  await mock.start();
  t.after(() => mock.stop());
  return mock.url;
}
