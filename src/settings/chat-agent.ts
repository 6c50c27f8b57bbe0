import { z } from 'zod';
import type { Users } from '../access/users.ts';
import type { Audit } from '../audit/create-audit.ts';
import type { Config } from '../config/complete-config.ts';
import type { RuntimeConfig } from '../config/runtime-config.ts';
import type { Button } from '../core/channel.ts';
import type { Conversation } from '../core/conversation.ts';
import type { Message } from '../core/message.ts';
import { resolveModel } from '../core/model.ts';
import { sayIn } from '../core/texts/say.ts';
import { toolSettings } from '../core/tool-settings.ts';
import { oneLine, inlineCode } from '../lib/text/text.ts';
import type { ChatSettings } from './chat-settings.ts';
import { storeSetting } from './settings-in-force.ts';

export type AgentHere = Readonly<{
  /** Alias of the model that answers here. */
  model: string;
  /** The alias that was set here but is no longer in the config, so that `model` is the config's. */
  gone?: string;
  /** The persona in the prompt, which may be empty. */
  persona: string;
}>;

/** The main agent's model and persona in a chat, which owners set by commands. */
export type ChatAgent = Readonly<{
  of(conversation: Conversation): Promise<AgentHere>;
  /** Answers `/model`, which shows the model, and `/model NAME`, which sets it. */
  model(message: Message, name: string, write: Write): Promise<Answer>;
  /** Answers `/persona`, which shows the persona, and `/persona TEXT`, which sets it. */
  persona(message: Message, text: string, write: Write): Promise<Answer>;
}>;

type Write = (name: string, args?: string) => string;
type Answer = Readonly<{ text: string; more?: Readonly<{ buttons: readonly Button[] }> }>;

const longestPersona = 2_000;
/** The value that removes what a chat has set. */
const standard = 'default';

export function createChatAgent(options: {
  runtime: () => Pick<RuntimeConfig, 'config'>;
  chats: Pick<ChatSettings, 'of' | 'set'>;
  users: Pick<Users, 'isOwner'>;
  audit: Pick<Audit, 'record'>;
}): ChatAgent {
  const { runtime, chats, users, audit } = options;
  // A name with a space, which no tool can have.
  const agent = { name: 'main agent', settings: toolSettings(schema) };

  async function of(conversation: Conversation): Promise<AgentHere> {
    const { models, agent: standing } = runtime().config;
    const { model, persona = standing.persona } = schema.parse(await chats.of(conversation, agent));
    if (model === undefined) return { model: standing.model, persona };
    const known = resolveModel(models, model) !== undefined;
    return known ? { model, persona } : { model: standing.model, gone: model, persona };
  }

  async function set(message: Message, key: 'model' | 'persona', value: string): Promise<void> {
    const { conversation, chatType, sender } = message;
    const field = agent.settings.fields.find((one) => one.key === key);
    if (field === undefined) throw new Error(`the main agent has no setting ${key}`);
    const who = { conversation, chatType, sender: sender.id };
    const of = { tool: agent.name, field, value: value === standard ? undefined : value };
    await storeSetting({ chats, audit }, who, of);
  }

  return {
    of,
    async model(message, name, write) {
      const say = sayIn(message.sender.language);
      if (!(await users.isOwner(message.sender.id))) return { text: say`Only an owner can change that.` };
      const { models } = runtime().config;
      const names = Object.keys(models.aliases);
      if (name !== '' && name !== standard && resolveModel(models, name) === undefined) {
        const unknown = say`I don’t know the model ${inlineCode(oneLine(name, 64))}.`;
        return { text: `${unknown} ${say`You can choose ${names.map(inlineCode).join(', ')}.`}` };
      }
      if (name !== '') await set(message, 'model', name);
      const here = await of(message.conversation);
      const others = [standard, ...names.filter((each) => each !== standard)];
      const buttons = others
        .map((each) => ({ label: each, action: `run:model ${each}` }))
        .filter(({ action }) => Buffer.byteLength(action) <= 64);
      return {
        text: [
          say`Model: ${nameModel(models, here.model)}`,
          ...goneWords(here, say),
          say`Choose the model for this chat, or write ${write('model', 'NAME')}. ${inlineCode(standard)} is the configured one.`,
        ].join('\n\n'),
        more: { buttons },
      };
    },
    async persona(message, text, write) {
      const say = sayIn(message.sender.language);
      if (!(await users.isOwner(message.sender.id))) return { text: say`Only an owner can change that.` };
      if (text.length > longestPersona)
        return { text: say`That is too long: a persona has at most ${longestPersona} characters.` };
      if (text !== '') await set(message, 'persona', text);
      const { persona } = await of(message.conversation);
      const shown =
        persona === '' ? say`I have no persona in this chat.` : say`My persona in this chat: ${persona}`;
      const how = say`Write ${write('persona', 'TEXT')} to set it, or ${write('persona', standard)} to use the configured one.`;
      return { text: `${shown}\n\n${how}` };
    },
  };
}

export function goneWords({ gone }: AgentHere, say: ReturnType<typeof sayIn>): readonly string[] {
  return gone === undefined
    ? []
    : [say`The model ${inlineCode(gone)} was chosen here, but my configuration no longer has it.`];
}

const schema = z.object({ model: z.string().optional(), persona: z.string().optional() });

/** A model as people read it: its id, and the alias that the config has for it. */
export function nameModel(models: Config['models'], alias: string): string {
  const id = resolveModel(models, alias)?.model ?? alias;
  return alias.endsWith(id) ? inlineCode(alias) : `${inlineCode(id)} (${alias})`;
}
