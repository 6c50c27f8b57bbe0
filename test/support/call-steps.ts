import type { MessagesRequest } from '../servers/messages/request-shape.ts';
import type { ServerStep } from '../servers/messages/answer.ts';

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
  const step = stepsOf(calls, 'done');
  return (request) => (isRun(request) ? step(request) : said);
}

/** These calls one after another, whoever is asked, and then `said`. */
export function stepsOf(
  calls: readonly ScriptedCall[],
  said: string,
): (request: MessagesRequest) => ServerStep {
  return (request) => {
    const made = resultsIn(request).length;
    const call = calls[made];
    if (call === undefined) return said;
    return { content: [{ type: 'tool_use', id: `toolu_${made}`, ...call }], stopReason: 'tool_use' };
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
