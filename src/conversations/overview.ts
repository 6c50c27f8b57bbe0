import type { Diagnostic } from '../core/diagnostic.ts';
import type { Conversation } from '../core/conversation.ts';
import { decideSkill } from '../access/decide-skill.ts';
import type { Message } from '../core/message.ts';
import type { Skill } from '../core/skill.ts';
import { sayIn, type Say } from '../core/texts/say.ts';
import type { People } from '../access/users.ts';
import type { Budgets } from '../limits/budgets.ts';
import { goneWords, type ChatAgent } from '../settings/chat-agent.ts';
import type { Live } from '../config/runtime-config.ts';
import { nameModel } from '../settings/name-model.ts';
import { isBuiltIn } from '../core/built-in-commands.ts';
import type { UseOf } from '../access/access-context.ts';

/** What a person may read of the bot: by commands, or on a page. */
export type Overview = Readonly<{
  /** What they can start by name where they are (A2, I4). */
  usable(by: Parameters<UseOf>[0]): Promise<readonly Skill[]>;
  /** A sentence each. `notices` are for owners; others have none. */
  status(
    reader: Message['sender'],
    /** Where they ask: another model may be set there. */
    conversation?: Conversation,
  ): Promise<Readonly<{ model: string; used: string; notices: readonly string[] }>>;
}>;

export function createOverview(options: {
  registry: () => Readonly<{ userInvocable: readonly Skill[] }>;
  live: () => Pick<Live, 'models' | 'config' | 'rules' | 'redact'>;
  budgets: Pick<Budgets, 'today'>;
  people: Pick<People, 'isOwner'>;
  plugins: Readonly<{ diagnostics: readonly Diagnostic[] }>;
  useOf: UseOf;
  chatAgent: Pick<ChatAgent, 'of'>;
}): Overview {
  const { registry, live, budgets, people, plugins, useOf, chatAgent } = options;

  function modelName(say: Say, model: string): string {
    const { models, config } = live();
    if (models.offline && model === 'default') return say`none is connected`;
    return nameModel(config.models, models.get(model).alias);
  }

  async function usedToday({ id, language }: Message['sender']): Promise<string> {
    const say = sayIn(language);
    const { tokens, usd } = await budgets.today(id);
    const { tokensPerDay, usdPerDay } = live().config.limits;
    const { number } = say;
    const used = tokensPerDay > 0 ? say`${number(tokens)} of ${number(tokensPerDay)}` : number(tokens);
    if (usd === 0) return used;
    const money = usdPerDay > 0 ? say`${number(usd, 2)} of ${number(usdPerDay, 2)}` : number(usd, 2);
    return say`${used}, ${money} US dollars`;
  }

  return {
    async usable(by) {
      const use = await useOf(by);
      return registry().userInvocable.filter(
        (skill) => !isBuiltIn(skill.name) && decideSkill(skill, live().rules, use).allowed,
      );
    },
    async status(reader, conversation) {
      const say = sayIn(reader.language);
      const standing = { model: live().config.agent.model, persona: '' };
      const here = conversation === undefined ? standing : await chatAgent.of(conversation);
      const notices = plugins.diagnostics.map(({ message }) => live().redact(message));
      return {
        model: [say`Model: ${modelName(say, here.model)}`, ...goneWords(here, say)].join(' '),
        used: say`Your tokens today: ${await usedToday(reader)}`,
        notices: (await people.isOwner(reader.id)) ? notices : [],
      };
    },
  };
}
