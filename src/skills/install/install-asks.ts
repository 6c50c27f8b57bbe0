import { allowedChatTypesOf } from '../parse/merge-definitions.ts';
import type { Offer } from './install-offers.ts';
import type { Definition } from '../parse/skill-definition.ts';

/** What a skill asks for, by kind; kinds it has nothing of are left out (D6). */
export type Asks = Readonly<Record<string, readonly string[]>>;

export function asksOf({ definition, scripts }: Pick<Offer, 'definition' | 'scripts'>): Asks {
  const { allowedTools = [], env, packages, programs, capabilities, network, model } = definition;
  const all: Asks = {
    tools: allowedTools.length === 0 ? ['every tool that a run may be given'] : allowedTools,
    env,
    packages,
    programs,
    capabilities,
    network,
    model: model === undefined ? [] : [model],
    works: worksOf(definition),
    scripts: scripts.map(({ path, sha256 }) => `${path} sha256 ${sha256}`),
  };
  return Object.fromEntries(Object.entries(all).filter(([, items]) => items.length > 0));
}

/** What a skill asks for and did not before, one sentence each; empty where it asks for no more. */
export function asksMore(before: Definition, after: Definition): readonly string[] {
  const more: string[] = [];
  for (const kind of ['env', 'packages', 'capabilities', 'network'] as const) {
    const added = after[kind].filter((item) => !before[kind].includes(item));
    if (added.length > 0) more.push(`${kind}: ${added.join(', ')}`);
  }
  const had = before.allowedTools ?? [];
  const tools = after.allowedTools ?? [];
  if (had.length > 0 && tools.length === 0) more.push('tools: every tool that a run may be given');
  const added = tools.filter((tool) => !had.includes(tool));
  if (had.length > 0 && added.length > 0) more.push(`tools: ${added.join(', ')}`);
  const { access: was } = before;
  const { access: is } = after;
  if (was.sensitive && !is.sensitive) more.push('it is no longer sensitive');
  const types = allowedChatTypesOf(after).filter((type) => !allowedChatTypesOf(before).includes(type));
  if (types.length > 0) more.push(`it works in ${types.join(', ')} chats too`);
  if (was.optIn && !is.optIn) more.push('it is on without config saying so');
  if (was.disableModelInvocation && !is.disableModelInvocation) more.push('a model may start it');
  if (!was.userInvocable && is.userInvocable) more.push('people may start it by name');
  if (!before.background && after.background) more.push('it runs in the background');
  if (before.context !== 'inline' && after.context === 'inline')
    more.push('its instructions go to the main agent itself');
  return more;
}

function worksOf(definition: Definition): readonly string[] {
  const { access, background, context } = definition;
  return [
    `in ${allowedChatTypesOf(definition).join(', ') || 'no'} chats`,
    ...(access.sensitive ? ['sensitive'] : []),
    ...(access.optIn ? ['off until config says enabled = true'] : []),
    ...(access.disableModelInvocation ? ['not started by a model'] : []),
    ...(access.userInvocable ? [] : ['not started by people']),
    ...(background ? ['in the background'] : []),
    ...(context === 'inline' ? ['inline: its instructions go to the main agent itself'] : []),
  ];
}
