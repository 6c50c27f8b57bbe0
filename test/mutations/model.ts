import { changesOf } from './changes-of.ts';

/** Which thinking goes back to a model (M13). */
export const modelMutations = [
  ...changesOf('agent/models/anthropic-request.ts', 'agent/thinking-bindings.test.ts', [
    [
      'thinking goes to another endpoint',
      'plain([...place, baseUrl, apiKey, name, system',
      'plain([...place, apiKey, name, system',
    ],
    [
      'thinking goes to another key',
      'plain([...place, baseUrl, apiKey, name, system',
      'plain([...place, baseUrl, name, system',
    ],
    [
      'thinking goes to another model',
      'plain([...place, baseUrl, apiKey, name, system',
      'plain([...place, baseUrl, apiKey, system',
    ],
    ['thinking stays behind another system prompt', 'apiKey, name, system, ...', 'apiKey, name, ...'],
    [
      'thinking stays behind other tools',
      'bindsThinking ? [tools] : [audience]',
      'bindsThinking ? [] : [audience]',
    ],
    [
      'thinking is shown to another audience',
      'bindsThinking ? [tools] : [audience]',
      'bindsThinking ? [tools] : []',
    ],
    [
      'thinking stays behind other words',
      'running.update(plain([role, unbound(block)]))',
      'running.update(plain([role, block.type]))',
    ],
    ['any binding holds', "if (trial.copy().digest('base64url') === binding) {", 'if (true) {'],
    [
      'thinking without a binding is shown',
      'const left = blocks.filter((block) => !isThinking(block));',
      'const left = blocks;',
    ],
    ['the binding itself is sent', 'return blocks.map(unbound);', 'return blocks;'],
    [
      'redacted thinking is shown to anybody',
      "block.type === 'thinking' || block.type === 'redacted_thinking'",
      "block.type === 'thinking'",
    ],
    [
      'thinking at the end of an answer binds',
      'const shown = content.slice(0, content.findLastIndex((block) => !isThinking(block)) + 1);',
      'const shown = content;',
    ],
  ]),
];
