import type { App } from '../../app.ts';
import { expired, type Feature } from '../../core/feature.ts';
import { sayIn } from '../../core/texts/say.ts';
import { answerByCode } from './answer-by-code.ts';
import { createCapabilities, type Capabilities } from './create-capabilities.ts';
import type { BridgeProvider } from './call-bridge.ts';
import type { Config } from '../../config/complete-config.ts';

/** Systems that people link with their own accounts (C1-C9). `ofPlugins` are the providers that plugins bring. */
export function createCapabilitiesFeature(
  app: App,
  ofPlugins: (config: Pick<Config, 'plugins'>) => readonly BridgeProvider[],
): Feature & Readonly<{ capabilities: Capabilities }> {
  const capabilities = createCapabilities({ ...app, plugins: { providers: ofPlugins } }, app);
  const { confirmations, signIns } = capabilities;
  return {
    name: 'capabilities',
    capabilities,
    takes: {
      secret: async (message) => ((await signIns.takes(message)) ? undefined : signIns.clean(message)),
      answer: async (message, isAddressed) =>
        isAddressed && answerByCode(message, confirmations, app.replies),
    },
    stopped: async ({ sender, conversation }) => void (await capabilities.callOff(sender, conversation)),
    run: async ({ skill, run }) => capabilities.tools(skill, run),
    lacks: capabilities.lacking,
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
    follow: capabilities.report,
    start: capabilities.report,
    attend: () => capabilities.attend(app.stopping),
  };
}
