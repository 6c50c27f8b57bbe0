import type { App } from '../../../app.ts';
import type { CommandRows } from '../../../core/chat-commands.ts';
import type { AnswerCommand } from '../../../core/feature.ts';
import { operatorZone } from '../../../core/local-time.ts';
import { requesterOf, type Message } from '../../../core/message.ts';
import { fixed, sayIn, type Say } from '../../../core/texts/say.ts';
import { inlineCode } from '../../../lib/text/text.ts';
import type { McpSettings } from '../mcp-settings.ts';
import { sharedSubject } from './account-book.ts';
import { subjectOf } from './ask-to-sign-in.ts';
import type { ServerAccounts } from './create-server-accounts.ts';
import { serversOf } from './servers-of.ts';

/** Commands with which people see, make and end their accounts (X8). In a group only they see the answer. */
export const accountCommandRows = {
  accounts: {
    menu: fixed`Your accounts that I use`,
    help: (write, say) => say`${write('accounts')} lists your accounts that I use.`,
    alone: true,
  },
  connect: {
    about: 'sends you the link to sign in to the MCP server with this name',
    alone: true,
    onlyWithMark: true,
  },
  disconnect: {
    about: 'ends your account at the MCP server with this name',
    alone: true,
    onlyWithMark: true,
  },
} as const satisfies CommandRows;

type Write = Parameters<AnswerCommand>[2]['write'];

type Answers = Readonly<Record<keyof typeof accountCommandRows, AnswerCommand>>;

export function accountCommands(
  app: App,
  accounts: ServerAccounts,
  settings: () => Readonly<Record<string, McpSettings>>,
): Answers {
  const { users } = app;

  const { theirs, listed } = createListed(app, accounts, settings);

  async function connect(message: Message, name: string, say: Say, write: Write): Promise<string> {
    const { sender } = message;
    const config = settings()[name];
    if (config === undefined || !(await theirs(message)).includes(name))
      return say`There is no ${inlineCode(name)} that you could connect. ${write('accounts')} lists what there is.`;
    const asked = await accounts.ask({
      server: name,
      settings: config,
      requester: requesterOf(message),
      again: message.id,
    });
    switch (asked.kind) {
      case 'owners only':
        return say`Only an owner can connect ${inlineCode(name)}.`;
      case 'problem':
        if (await users.isOwner(sender.id)) return say`That does not work: ${asked.why}`;
        return say`The sign-in does not work at the moment. Please tell my operator.`;
      default:
        return message.chatType === 'private' ? '' : say`I sent you the link in a direct message.`;
    }
  }

  async function disconnect({ sender }: Message, name: string, say: Say): Promise<string> {
    const config = settings()[name];
    const subject = config === undefined ? sender.id : subjectOf(config, sender.id);
    if (subject === sharedSubject && !(await users.isOwner(sender.id)))
      return say`Only an owner can disconnect ${inlineCode(name)}.`;
    return (await accounts.end({ subject, server: name }))
      ? say`Disconnected. I no longer use your account at ${inlineCode(name)}.`
      : say`You have no account at ${inlineCode(name)} here.`;
  }

  const answer =
    (words: (message: Message, name: string, say: Say, write: Write) => Promise<string>): AnswerCommand =>
    async (message, args, { write }) => {
      const say = sayIn(message.sender.language);
      return { text: await words(message, args.trim(), say, write) };
    };
  const named = (words: typeof connect) =>
    answer((message, name, say, write) =>
      name === '' ? listed(message, say, write) : words(message, name, say, write),
    );

  return {
    accounts: answer((message, _, say, write) => listed(message, say, write)),
    connect: named(connect),
    disconnect: named(disconnect),
  };
}

/** What a person has connected, and what else they could. */
function createListed(
  app: App,
  accounts: ServerAccounts,
  settings: () => Readonly<Record<string, McpSettings>>,
) {
  const theirs = (message: Message) => serversOf(app, message, settings());

  async function listed(message: Message, say: Say, write: Write): Promise<string> {
    const { sender } = message;
    const own = await accounts.book.list(sender.id);
    const zone = sender.timezone ?? operatorZone(app.config());
    const lines = own.map(({ server, since, account }) =>
      account.lapsed === true
        ? say`${inlineCode(server)}: it needs a new sign-in. ${write('connect', server)}`
        : say`${inlineCode(server)}: connected since ${say.time(since, zone)}. ${write('disconnect', server)} ends it.`,
    );
    const others = (await theirs(message)).filter((name) => !own.some(({ server }) => server === name));
    const possible = others.map((name) => say`${inlineCode(name)}: not connected. ${write('connect', name)}`);
    const all = [...lines, ...possible];
    return all.length === 0
      ? say`There is nothing here that you could connect.`
      : all.map((line) => `- ${line}`).join('\n');
  }

  return { theirs, listed };
}
