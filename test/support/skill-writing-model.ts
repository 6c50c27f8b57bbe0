import type { ServerStep } from '../servers/messages/answer.ts';
import type { MessagesRequest } from '../servers/messages/request-shape.ts';

/** The skill that the scripted model writes: a script that greets. */
export const greetSkill = {
  name: 'greet',
  content:
    '---\nname: greet\ndescription: Greets somebody by name. Use when somebody wants a greeting.\nallowed-tools: skills_run_script\n---\n\nRun `skills_run_script` with path `scripts/greet.sh` and the name.\n',
  files: [
    { path: 'scripts/greet.sh', content: '#!/usr/bin/env bash\nset -euo pipefail\necho "Good day, $1."\n' },
  ],
} as const;

export const isRun = (body: MessagesRequest): boolean =>
  JSON.stringify(body.system).includes('You carry out the skill');
export const lastOf = (body: MessagesRequest): string => JSON.stringify(body.messages.at(-1));
export const call = (id: string, name: string, input: object): ServerStep => ({
  content: [{ type: 'tool_use', id, name, input }],
});

/**
 * A language model that writes `greet` when somebody says "learn to greet": first with a mistake, which the tool tells it
 * to fix. `change` is what it writes when somebody says "greet louder".
 */
export function skillWritingModel(change: typeof greetSkill | object = greetSkill) {
  return (body: MessagesRequest, index: number): ServerStep => {
    const last = lastOf(body);
    const id = `toolu_${index}`;
    if (!isRun(body)) {
      if (/<output>/.test(last))
        return /Good day/.test(last) ? 'Good day, Bob!' : 'I wrote it; it waits for a yes.';
      const asks = /learn to greet|greet louder/.exec(last)?.[0];
      return asks === undefined
        ? 'Nothing to do.'
        : call(id, 'use_skill', { skill: 'skill-writer', message: asks });
    }
    if (!JSON.stringify(body.system).includes('# Write a skill')) {
      return /Good day, Bob/.test(last)
        ? 'Good day, Bob.'
        : call(id, 'skills_run_script', { path: 'scripts/greet.sh', args: ['Bob'] });
    }
    if (/greet louder/.test(last)) return call(id, 'skill_read', { name: 'greet' });
    if (/name: greet/.test(last)) return call(id, 'skill_write', change);
    if (/is written|in use/.test(last)) return 'greet is written.';
    if (/Fix all of this/.test(last)) return call(id, 'skill_write', greetSkill);
    const wrong = greetSkill.content.replace('name: greet', 'name: Greet');
    const files = [...greetSkill.files, { path: '../outside.sh', content: 'x' }];
    return call(id, 'skill_write', { ...greetSkill, content: wrong, files });
  };
}
