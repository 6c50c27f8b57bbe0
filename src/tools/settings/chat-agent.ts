import { z } from 'zod';
import type { Audit } from '../../audit/create-audit.ts';
import type { Config } from '../../config/complete-config.ts';
import type { RuntimeConfig } from '../../config/runtime-config.ts';
import type { Conversation } from '../../core/conversation.ts';
import type { Message } from '../../core/message.ts';
import { resolveModel } from '../../core/model.ts';
import type { sayIn } from '../../core/texts/say.ts';
import { toolSettings } from '../../core/tool-settings.ts';
import { inlineCode } from '../../lib/text/text.ts';
import type { ChatSettings } from './chat-settings.ts';
import { storeSetting } from './settings-in-force.ts';

export type AgentHere = Readonly<{
  /** Alias of the model that answers here. */
  model: string;
  /** Whether it was chosen by `/model`. */
  isChosen: boolean;
  /** The alias that was set here but is no longer in the config, so that `model` is the config's. */
  gone?: string;
  /** The persona in the prompt, which may be empty. */
  persona: string;
}>;

/** The main agent's model and persona in a chat (M15). */
export type ChatAgent = Readonly<{
  of(conversation: Conversation): Promise<AgentHere>;
  /** Sets one for the message's chat, in its sender's name. Undefined removes what the chat has set. */
  set(message: Message, key: 'model' | 'persona', value: string | undefined): Promise<void>;
}>;

export function createChatAgent(options: {
  runtime: () => RuntimeConfig;
  chats: ChatSettings;
  audit: Audit;
}): ChatAgent {
  const { runtime, chats, audit } = options;
  // A name with a space, which no tool can have.
  const agent = { name: 'main agent', settings: toolSettings(schema) };
  return {
    async of(conversation) {
      const { models, agent: standing } = runtime().config;
      const { model, persona = standing.persona } = schema.parse(await chats.of(conversation, agent));
      if (model === undefined) return { model: standing.model, isChosen: false, persona };
      const known = resolveModel(models, model) !== undefined;
      return known
        ? { model, isChosen: true, persona }
        : { model: standing.model, isChosen: false, gone: model, persona };
    },
    async set({ conversation, chatType, sender }, key, value) {
      const field = agent.settings.fields.find((one) => one.key === key);
      if (field === undefined) throw new Error(`the main agent has no setting ${key}`);
      const who = { conversation, chatType, sender: sender.id };
      await storeSetting({ chats, audit }, who, { tool: agent.name, field, value });
    },
  };
}

const schema = z.object({ model: z.string().optional(), persona: z.string().optional() });

export function goneWords({ gone }: AgentHere, say: ReturnType<typeof sayIn>): readonly string[] {
  return gone === undefined
    ? []
    : [say`The model ${inlineCode(gone)} was chosen here, but my configuration no longer has it.`];
}

/** A model as people read it: its id, and the alias that the config has for it. */
export function nameModel(models: Config['models'], alias: string): string {
  const id = resolveModel(models, alias)?.model ?? alias;
  return alias.endsWith(id) ? inlineCode(alias) : `${inlineCode(id)} (${alias})`;
}
