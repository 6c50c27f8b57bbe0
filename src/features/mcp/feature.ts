import type { App, Desk } from '../../app.ts';
import { conversationKey } from '../../core/conversation.ts';
import type { Feature } from '../../core/feature.ts';
import { operatorZone } from '../../core/local-time.ts';
import { skilletHere } from '../../core/skillet-here.ts';
import { sayIn } from '../../core/texts/say.ts';
import { inlineCode } from '../../lib/text/text.ts';
import type { FeatureKit } from '../kit.ts';
import { accountCommandRows, accountCommands } from './accounts/account-commands.ts';
import { accountsAtRest, accountsOfDesk } from './accounts/account-operations.ts';
import { accountChecks, accountReasons } from './accounts/check-accounts.ts';
import { bundleChecks, bundleReasons } from './bundle-settings.ts';
import { createMcp } from './create-mcp.ts';
import { signedIn } from './mcp-settings.ts';
import { mcpOperations } from './operations.ts';
import { createAgreements, createMcpOperations, type McpOperations } from './server-agreement.ts';
import { serverStates } from './server-state.ts';

/** Brings the tools of MCP servers to the main agent and to runs (X7), also with accounts of people (X8). */
export const mcp = {
  create: createMcpFeature,
  commands: accountCommandRows,
  checks: (config) => [...accountChecks(config), ...bundleChecks(config)],
  reasons: { ...accountReasons, ...bundleReasons },
  atRest(desk: Desk) {
    const { store, audit } = desk;
    const agreements = createAgreements({ stored: store.keyed('mcp'), signals: store.signals });
    const operations = createMcpOperations({ agreements, states: () => ({}), redact: (text) => text, audit });
    return atRest(operations, accountsOfDesk(desk));
  },
} satisfies FeatureKit;

function atRest(operations: McpOperations, accounts: ReturnType<typeof accountsAtRest>) {
  return {
    operations: { ...mcpOperations(operations), ...accounts.operations },
    forget: accounts.forget,
    definitionHashes: operations.definitionHashes,
    servers: async () => serverStates(await operations.list()),
  };
}

function createMcpFeature(app: App): Feature {
  const servers = createMcp(app);
  const { accounts, links } = servers;
  return {
    name: 'mcp',
    ...atRest(
      servers.operations,
      accountsAtRest(accounts.book, accounts.end, app.store.serverAccounts.forget),
    ),
    commands: accountCommands(app, accounts, () => signedIn(app.config().mcp)),
    takes: {
      answer: servers.input.takes,
      secret: async (message) =>
        (await accounts.messages.takes(message)) ? undefined : accounts.messages.clean(message),
    },
    presses: { input: servers.input.press },
    stopped: async ({ sender, conversation }) => {
      await accounts.callOff(sender, conversationKey(conversation));
    },
    page: accounts.page,
    links: servers.states,
    seen: servers.seen,
    outside: servers.tools,
    async notices({ language, timezone }) {
      const say = sayIn(language);
      const zone = timezone ?? operatorZone(app.runtime().config);
      return serverStates(await servers.operations.list()).flatMap(
        ({ name, is, since, why = '', waiting }) => [
          ...(is === 'away'
            ? [
                say`The MCP server ${inlineCode(name)} is away since ${say.time(since, zone)}: ${inlineCode(why)}`,
              ]
            : []),
          ...(waiting === 0
            ? []
            : [
                say`Tools of the MCP server ${inlineCode(name)} that are off until you approve them: ${waiting}. ${inlineCode(`${skilletHere()} mcp list`)} shows them.`,
              ]),
        ],
      );
    },
    follow() {
      accounts.follow();
      return servers.follow();
    },
    start: servers.start,
    attend: async () => void (await accounts.attend(app.stopping)),
    idle: servers.looked,
    async close() {
      await links.end();
      await servers.stop();
    },
  };
}
