import type { App, Desk } from '../../app.ts';
import { expired, type Feature } from '../../core/feature.ts';
import { sayIn } from '../../core/texts/say.ts';
import { answerByCode } from './answer-by-code.ts';
import { createCapabilities } from './create-capabilities.ts';
import {
  createCapabilityBase,
  createCapabilityOperations,
  type CapabilityOperations,
} from './capability-base.ts';
import { capabilityOperations } from './operations.ts';
import type { FeatureKit, Opened } from '../kit.ts';
import { capabilityToolRows } from './capability-tools.ts';

/** Systems that people link with their own accounts (C1-C9). */
export const capabilities = {
  create: createCapabilitiesFeature,
  tools: capabilityToolRows,
  atRest(desk: Desk) {
    const base = createCapabilityBase({ ...desk, records: desk.store.capabilities });
    return atRest(createCapabilityOperations(base, desk.audit), desk.store.capabilities.forget);
  },
} satisfies FeatureKit;

function atRest(operations: CapabilityOperations, forget: (sender: string) => Promise<number>) {
  return {
    operations: capabilityOperations(operations),
    forget: async (sender: string) => ({ accounts: await forget(sender) }),
  };
}

function createCapabilitiesFeature(app: App, { plugins }: Opened): Feature {
  const made = createCapabilities({ ...app, plugins }, app);
  const { confirmations, signIns } = made;
  return {
    name: 'capabilities',
    ...atRest(made.operations, made.forget),
    takes: {
      secret: async (message) => ((await signIns.takes(message)) ? undefined : signIns.clean(message)),
      answer: async (message, isAddressed) =>
        isAddressed && answerByCode(message, confirmations, app.replies),
    },
    stopped: async ({ sender, conversation }) => void (await made.callOff(sender, conversation)),
    run: async ({ skill, run }) => made.tools(skill, run),
    serves: 'capabilities',
    lacks: made.lacking,
    withoutUse: (skills) =>
      skills.some(({ capabilities: declared }) => declared.length > 0) ? [] : Object.keys(capabilityToolRows),
    presses: {
      async link({ press: { sender, conversation } }, [id = '', value]) {
        const say = sayIn(sender.language);
        if (value !== 'yes' && value !== 'no') return { told: say(expired) };
        const from = { sender: sender.id, conversation, language: sender.language };
        const confirmed = await confirmations.answer(id, from, value === 'yes');
        if (confirmed.kind === 'taken') return undefined;
        app.log.info({ flow: id, sender: sender.id }, 'a press on a linked account did not count');
        return { told: 'text' in confirmed ? confirmed.text : say(expired) };
      },
    },
    follow: made.report,
    start: made.report,
    attend: () => made.attend(app.stopping),
  };
}
