import { fail, succeed, type Envelope } from '../../../core/envelope.ts';
import {
  readOnly,
  type OutsideSource,
  type OutsideTool,
  type Requester,
  type Tool,
  type ToolContext,
} from '../../../core/tool.ts';
import { sayIn } from '../../../core/texts/say.ts';
import { inlineCode } from '../../../lib/text/text.ts';
import { identityOf, type McpSettings } from '../mcp-settings.ts';
import { mcpTool, mcpToolName, type Converse } from '../mcp-tool.ts';
import type { McpDefinition } from '../read-definition.ts';
import type { WriteCommand } from '../../../core/channel.ts';
import type { ServerAgreement } from '../server-agreement.ts';
import { sharedSubject } from './account-book.ts';
import { subjectOf } from './ask-to-sign-in.ts';
import type { ServerAccounts } from './create-server-accounts.ts';
import type { PersonLinks } from './person-links.ts';
import type { Challenge } from './sign-in-needed.ts';

type Deps = Readonly<{
  /** Servers to which people sign in. */
  settings: () => Readonly<Record<string, McpSettings>>;
  agreementOf(server: string): ServerAgreement | undefined;
  accounts: ServerAccounts;
  links: PersonLinks;
  writeCommand: WriteCommand;
  converse: Converse;
  redact(text: string): string;
}>;

/**
 * Tools of servers to which people sign in (X8). What models see are the definitions that the operator agreed to, no matter
 * whose account listed them. Until somebody has signed in there are none, and one tool asks for that.
 */
export function createPersonTools(deps: Deps): OutsideSource {
  const { settings, agreementOf, redact } = deps;
  const made = new WeakMap<McpSettings, Map<string, OutsideTool>>();
  const invite = createInvite(deps);

  function agreedOf(server: string, config: McpSettings): readonly McpDefinition[] {
    const agreement = agreementOf(server);
    if (agreement?.identity !== identityOf(config)) return [];
    return agreement.tools.flatMap(({ agreed }) => agreed ?? []);
  }

  function toolOf(server: string, config: McpSettings, definition: McpDefinition): Tool {
    const judge = createJudgeAccount(server, config, deps);
    return mcpTool({
      server,
      ...{ identity: identityOf(config), definition, trusted: config.trusted, isProcess: false, redact },
      converse: deps.converse,
      isStill: () =>
        settings()[server] === config &&
        agreedOf(server, config).some(({ hash }) => hash === definition.hash),
      assess: judge.assess,
      async call(input, options, context) {
        const { requester } = context;
        if (!(await judge.isAsAssessed(context)))
          return { kind: 'sign-in', message: 'the person signed in just now: call again' };
        const subject = subjectOf(config, requester.sender);
        const call = { tool: definition.name, hash: definition.hash, input };
        const of = { server, subject, settings: config };
        const called = await deps.links.call(of, call, options);
        if (called.kind !== 'sign-in') return called;
        return { kind: 'sign-in', message: await invite(server, config, requester, called.challenge) };
      },
    });
  }

  return () =>
    Object.entries(settings()).flatMap(([server, config]) => {
      const known = made.get(config) ?? new Map<string, OutsideTool>();
      made.set(config, known);
      const access = {
        chatTypes: config.chatTypes ?? (['private'] as const),
        users: config.users ?? 'owners',
      } as const;
      const outside = (name: string, tool: () => Tool): OutsideTool => {
        const one = known.get(name) ?? { tool: tool(), from: `mcp ${server}`, main: config.main, access };
        known.set(name, one);
        return one;
      };
      const agreed = agreedOf(server, config);
      if (agreed.length === 0) return [outside('', () => signInTool(server, config, deps, invite))];
      return agreed.map((definition) =>
        outside(`${definition.hash} ${definition.name}`, () => toolOf(server, config, definition)),
      );
    });
}

/** Marks what came from an account, so that it does not leave for elsewhere unasked (S7). */
function taintOf(server: string, subject: string): string {
  return `mcp:${server} ${subject}`;
}

/**
 * Judges calls by whether there is an account. Without one a call is only a question for a sign-in, which nobody has to
 * approve; then it must stay one, even if the person signs in meanwhile.
 */
function createJudgeAccount(server: string, config: McpSettings, { accounts }: Deps) {
  const without = new WeakMap<AbortSignal, Set<string>>();
  const hasAccount = async ({ sender }: Requester): Promise<boolean> => {
    const found = await accounts.book.find({ server, subject: subjectOf(config, sender) });
    return found !== undefined && found.account.url === config.url && found.account.lapsed !== true;
  };
  const assess: NonNullable<Tool['assess']> = async (_, { requester, toolUseId, signal }) => {
    const subject = subjectOf(config, requester.sender);
    const account = taintOf(server, subject);
    if (!(await hasAccount(requester))) {
      without.set(signal, (without.get(signal) ?? new Set()).add(toolUseId));
      return { risk: 'safe', account };
    }
    without.get(signal)?.delete(toolUseId);
    return { account, taint: account, because: whoseText(server, subject, requester) };
  };
  return {
    assess,
    isAsAssessed: async ({ signal, toolUseId, requester }: ToolContext): Promise<boolean> =>
      without.get(signal)?.has(toolUseId) !== true || !(await hasAccount(requester)),
  };
}

function whoseText(server: string, subject: string, { sender, name, chatType, language }: Requester): string {
  const say = sayIn(language);
  if (subject === sharedSubject) return say`It uses the account that all share at ${inlineCode(server)}.`;
  if (chatType === 'private') return say`It uses your account at ${inlineCode(server)}.`;
  const who = name === undefined ? sender : `${name} (${sender})`;
  return say`It uses the account of ${inlineCode(who)} at ${inlineCode(server)}.`;
}

type Invite = (
  server: string,
  config: McpSettings,
  requester: Requester,
  challenge: Challenge,
) => Promise<string>;

/** Asks the person for a sign-in. Returns what the model is told, which has no address in it. */
function createInvite({ accounts, writeCommand }: Deps): Invite {
  return async (server, settings, requester, challenge) => {
    const asked = await accounts.ask({
      ...{ server, settings, requester },
      challenge: challenge.scope === undefined && challenge.metadataUrl === undefined ? undefined : challenge,
    });
    const what = `${server} needs ${settings.auth === 'shared' ? 'a sign-in of an owner' : 'a sign-in of this person'}${challenge.scope === undefined ? '' : ' with more permissions'}, and nothing was done`;
    const connect = writeCommand(requester.conversation, 'connect', server);
    switch (asked.kind) {
      case 'asked':
        return `${what}. The host sent them the link in a direct message. Say that in one sentence and end your turn: they sign in, and ask again.`;
      case 'before':
        return `${what}. They got the link before. Say that ${connect} sends a new one, and do not call it again in this turn.`;
      case 'owners only':
        return `${what}. Say that an owner has to write ${connect} in a direct message.`;
      case 'problem':
        return `${what}. It is not possible now: ${asked.why}.`;
    }
  };
}

/** Stands for the tools of a server that nobody has signed in to yet. */
function signInTool(server: string, config: McpSettings, { accounts, links }: Deps, invite: Invite): Tool {
  const name = mcpToolName(server, 'sign_in');
  return Object.freeze({
    name,
    description: `Connects the MCP server ${JSON.stringify(server)}. Its tools are known once a person has signed in there. Call this if the person wants something of it: they get a link in private.`,
    inputSchema: { type: 'object', properties: {} },
    traits: readOnly,
    risk: 'safe' as const,
    check: () => undefined,
    async run(_: unknown, { requester, signal }: ToolContext): Promise<Envelope> {
      const subject = subjectOf(config, requester.sender);
      const found = await accounts.book.find({ server, subject });
      if (found === undefined || found.account.lapsed === true || found.account.url !== config.url)
        return fail('SIGN_IN_NEEDED', await invite(server, config, requester, {}));
      await links.look({ server, subject, settings: config }, signal);
      return succeed(`${server} is connected. Its tools are there from the person's next message on.`);
    },
  });
}
