import type { AnswerBlock } from './answer.ts';
import type { MessagesRequest } from './request-shape.ts';

/** What the 5.5 models refuse of the settings that older models take. */
export function checkModelSettings(
  { model, thinking, output_config, tool_choice }: MessagesRequest,
  betas: readonly string[],
): string | undefined {
  if (thinking !== undefined && 'block_binding' in thinking && !betas.includes(bindingControls)) {
    return `thinking.${thinking.type}.block_binding: Extra inputs are not permitted`;
  }
  const family = /claude-(opus|sonnet|haiku)-5-5/.exec(model)?.[1];
  if (family === undefined) return undefined;
  const type = thinking?.type ?? 'adaptive';
  const isHard = ['xhigh', 'max'].includes(output_config?.effort ?? 'high');
  const refused = {
    opus: type !== 'adaptive',
    sonnet: type === 'disabled' || type === 'enabled' || (type === 'between_tools' && isHard),
    haiku: type === 'enabled' || type === 'between_tools' || (type === 'disabled' && isHard),
  }[family as 'opus' | 'sonnet' | 'haiku'];
  if (refused) {
    return `"thinking.type.${type}" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.`;
  }
  if (type === 'adaptive' && ['any', 'tool'].includes(tool_choice?.type ?? 'auto')) {
    return 'tool_choice: forced tool use is not supported for this model';
  }
  return undefined;
}

const bindingControls = 'thinking-binding-controls-2026-08-01';

/**
 * The words of an answer as the 5.5 models give them: with `adaptive` thinking, which is their default, what they say
 * between tool calls is thinking, whose text is left out unless it is asked for.
 */
export function asModelSays<Block extends AnswerBlock>(
  content: readonly Block[],
  { model, thinking }: MessagesRequest,
): readonly (Block | AnswerBlock)[] {
  const isHidden =
    /claude-(?:opus|sonnet|haiku)-5-5/.test(model) && (thinking?.type ?? 'adaptive') === 'adaptive';
  const last = isHidden ? content.findLastIndex(({ type }) => type === 'tool_use') : -1;
  return content.map((block, index) =>
    block.type === 'text' && index < last ? { type: 'thinking', thinking: '' } : block,
  );
}
