import { decideSkill, type SkillUse } from '../access/decide-skill.ts';
import { invocationId } from '../agent/models/anthropic-request.ts';
import type { Viewer } from '../agent/show-to.ts';
import { requesterOf, type Message, type Task } from '../core/message.ts';
import type { Model } from '../core/model.ts';
import type { WorkStep } from '../core/plan.ts';
import type { Skill } from '../core/skill.ts';
import type { Requester } from '../core/tool.ts';
import type { AgentHere } from '../tools/settings/chat-agent.ts';
import type { Registry } from '../skills/registry.ts';
import type { InboxItem } from '../store/inbox.ts';
import { mainTools } from '../tools/main-tools.ts';
import { chatFolder } from '../tools/built-in/run-folders.ts';
import type { TurnDeps } from './turn-context.ts';
import type { TurnContext } from './turn.ts';

export type TurnInput = Readonly<{
  item: InboxItem;
  message: Message;
  use: SkillUse;
  transcript: string;
  progress(text: string): void;
  step(step: WorkStep): void;
}>;

/** A turn, with everything that is looked up once at its start. */
export type OpenTurn = TurnInput &
  Readonly<{
    requester: Requester;
    /** Set if the item is a queued tool call rather than a message. */
    task: Extract<Task, { kind: 'run' }> | undefined;
    /** Id of the call that is made without a model: a person's command or a queued call. */
    callWithoutModel: string;
    byPerson: boolean;
    byModel: SkillUse;
    /** All skills at the start of the turn. */
    registry: Registry;
    /** Skills that the model could see at the start of the turn. */
    seen: readonly Skill[];
    /** Skills that the model may use at this moment. */
    visible(): readonly Skill[];
    chat: string;
    here: AgentHere;
    model: Model;
    command(name: string, args?: string): string;
    /** Ids of the runs whose question this message may answer (U14). */
    answers: Set<string>;
  }>;

export async function openTurn(input: TurnInput, deps: TurnDeps): Promise<OpenTurn> {
  const { runtime, library, availability, chatAgent } = deps;
  const { item, message, use } = input;
  const { conversation } = message;
  const requester = requesterOf(message);
  const byModel: SkillUse = { ...use, by: 'model' };
  const visible = (): readonly Skill[] => {
    const { rules } = runtime();
    const available = library.current().available(availability());
    return available.filter((skill) => decideSkill(skill, rules, byModel).allowed);
  };
  const chat = chatFolder(deps.folders.root, await deps.migrations.original(conversation));
  const here = await chatAgent.of(conversation);
  const task = message.task?.kind === 'run' ? message.task : undefined;
  return {
    ...input,
    requester,
    task,
    callWithoutModel: task?.toolUseId ?? invocationId(item.key),
    byPerson: task === undefined || task.by === 'person',
    byModel,
    registry: library.current(),
    seen: visible(),
    visible,
    chat,
    here,
    model: deps.modelFor(here.model, chat, {
      ...{ requester, transcript: input.transcript },
      tellsResult: message.task?.kind === 'result',
    }),
    command: (name, args) => deps.writeCommand(conversation, name, args),
    answers: new Set(),
  };
}

const anybody = '';

/**
 * What the requester and everybody in the chat may know of. Undefined in direct messages, where nobody else reads (A8,
 * A11).
 */
export async function viewersOf(
  turn: OpenTurn,
  { runtime, outside, builtInTools }: TurnDeps,
): Promise<TurnContext['viewers']> {
  const { requester } = turn;
  if (requester.chatType === 'private') return undefined;
  const builtIn = new Set(mainTools(runtime().config, builtInTools));
  const viewerOf = async (sender: string): Promise<Viewer> => {
    const of = { ...requester, sender };
    const offered = [...(await outside.offered(of, 'main')), ...(await outside.offered(of, 'person'))];
    const names = new Set(offered.map(({ name }) => name));
    return {
      // A tool that an inline skill lends shows together with the call of that skill.
      tool: (name) => builtIn.has(name) || names.has(name) || builtInTools.row(name)?.inline === true,
      skill(name) {
        const skill = turn.registry.get(name);
        if (skill === undefined) return false;
        const may = (by: SkillUse['by']): boolean =>
          decideSkill(skill, runtime().rules, { ...turn.use, sender, by }).allowed;
        return may('person') || may('model');
      },
    };
  };
  return {
    requester: { sender: requester.sender, ...(await viewerOf(requester.sender)) },
    everybody: await viewerOf(anybody),
  };
}
