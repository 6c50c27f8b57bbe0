import type { Model, ModelAnswer, ModelRequest } from '../../core/model.ts';
import { noTokens } from '../../core/model.ts';
import { skillOfRun } from '../../runs/run-prompt.ts';

/** A model that is asked only until the main agent has chosen a skill. Then it says "Done." without a request (F13). */
export function untilSkill(model: Model): Model {
  return {
    ...model,
    complete: (request, signal, onText) =>
      skillOfRun(request) === undefined && !hasChosen(request)
        ? model.complete(request, signal, onText)
        : Promise.resolve(done(model.alias)),
  };
}

function hasChosen({ messages }: ModelRequest): boolean {
  return messages.some(
    ({ role, content }) =>
      role === 'assistant' &&
      typeof content !== 'string' &&
      content.some((block) => block.type === 'tool_use' && block.name === 'use_skill'),
  );
}

function done(model: string): ModelAnswer {
  return {
    content: [{ type: 'text', text: 'Done.', citations: null }],
    stopReason: 'end_turn',
    tokens: noTokens,
    model,
  };
}
