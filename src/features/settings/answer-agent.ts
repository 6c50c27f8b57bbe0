import type { App } from '../../app.ts';
import type { Users } from '../../access/users.ts';
import type { RuntimeConfig } from '../../config/runtime-config.ts';
import { goneWords, nameModel, type ChatAgent } from '../../tools/settings/chat-agent.ts';
import type { AnswerCommand } from '../../core/feature.ts';
import { resolveModel } from '../../core/model.ts';
import { sayIn } from '../../core/texts/say.ts';
import { announce } from './announce.ts';
import { whoOf } from './show-settings.ts';
import { oneLine, inlineCode } from '../../lib/text/text.ts';

const longestPersona = 2_000;
/** The value that removes what a chat has set. */
const standard = 'default';

type AgentDeps = Readonly<{
  runtime: () => RuntimeConfig;
  users: Users;
  chatAgent: ChatAgent;
  replies: App['replies'];
  clock: App['clock'];
}>;

/** Answers `/model`, which shows the model, and `/model NAME`, which sets it. */
export function answerModel(deps: AgentDeps): AnswerCommand {
  const { runtime, users, chatAgent } = deps;
  return async (message, name, { write }) => {
    const say = sayIn(message.sender.language);
    if (!(await users.isOwner(message.sender.id))) return { text: say`Only an owner can change that.` };
    const { models } = runtime().config;
    const names = Object.keys(models.aliases);
    if (name !== '' && name !== standard && resolveModel(models, name) === undefined) {
      const unknown = say`I don’t know the model ${inlineCode(oneLine(name, 64))}.`;
      return { text: `${unknown} ${say`You can choose ${names.map(inlineCode).join(', ')}.`}` };
    }
    if (name !== '') {
      await chatAgent.set(message, 'model', valueOf(name));
      await announce(whoOf(message), say`my model`, deps);
    }
    const here = await chatAgent.of(message.conversation);
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
  };
}

/** Answers `/persona`, which shows the persona, and `/persona TEXT`, which sets it. */
export function answerPersona(deps: AgentDeps): AnswerCommand {
  const { users, chatAgent } = deps;
  return async (message, text, { write }) => {
    const say = sayIn(message.sender.language);
    if (!(await users.isOwner(message.sender.id))) return { text: say`Only an owner can change that.` };
    if (text.length > longestPersona)
      return { text: say`That is too long: a persona has at most ${longestPersona} characters.` };
    if (text !== '') {
      await chatAgent.set(message, 'persona', valueOf(text));
      await announce(whoOf(message), say`my persona`, deps);
    }
    const { persona } = await chatAgent.of(message.conversation);
    const shown =
      persona === '' ? say`I have no persona in this chat.` : say`My persona in this chat: ${persona}`;
    const how = say`Write ${write('persona', 'TEXT')} to set it, or ${write('persona', standard)} to use the configured one.`;
    return { text: `${shown}\n\n${how}` };
  };
}

function valueOf(text: string): string | undefined {
  return text === standard ? undefined : text;
}
