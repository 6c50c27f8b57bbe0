import type Anthropic from '@anthropic-ai/sdk';
import { withCachePoints } from '../../src/agent/models/anthropic-request.ts';
import type { ModelRequest } from '../../src/core/model.ts';
import { checkMessages } from '../servers/messages/check-messages.ts';
import { parseRequest } from '../servers/messages/request-shape.ts';

/** What the strict test server says of this request as it would be sent; nothing when it takes it. */
export function refusalOf(request: ModelRequest): string | undefined {
  const { system, messages, tools } = withCachePoints(request);
  const parsed = parseRequest({ model: 'm', max_tokens: 1, system, messages, tools }, '2026-10-21');
  if ('wrong' in parsed) return parsed.wrong;
  return checkMessages(parsed.request);
}

export function messagesOnly(messages: readonly Anthropic.MessageParam[]): ModelRequest {
  return { system: [], messages, tools: [] };
}
