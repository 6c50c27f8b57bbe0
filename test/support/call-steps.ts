import type { MessagesRequest } from './messages-server/request-shape.ts';
import type { ServerStep } from './messages-server/answer.ts';

/** A tool call that a scripted model makes. */
export type ScriptedCall = Readonly<{ name: string; input: unknown }>;

/**
 * A model for a skill that a person starts: in the run it makes these calls one after another, then says `done`; the main
 * agent answers with `said`. It goes by the results it is shown, so that it goes on after a restart.
 */
export function callSteps(
  calls: readonly ScriptedCall[],
  said = 'All done.',
): (request: MessagesRequest) => ServerStep {
  return (request) => {
    if (!isRun(request)) return said;
    const call = calls[resultsIn(request).length];
    if (call === undefined) return 'done';
    const id = `toolu_${resultsIn(request).length}`;
    return { content: [{ type: 'tool_use', id, ...call }], stopReason: 'tool_use' };
  };
}

/** The texts of all tool results in a request, in order. */
export function resultsIn({ messages }: MessagesRequest): readonly string[] {
  return messages.flatMap(({ content }) =>
    typeof content === 'string'
      ? []
      : content.flatMap((block) =>
          block.type === 'tool_result' ? [JSON.stringify((block as { content?: unknown }).content)] : [],
        ),
  );
}

export function isRun({ system }: MessagesRequest): boolean {
  return JSON.stringify(system).includes('You carry out the skill');
}
