import type Keyv from 'keyv';
import type { Audit } from '../../../audit/create-audit.ts';
import { conversationKey } from '../../../core/conversation.ts';
import { sayIn, type Say } from '../../../core/texts/say.ts';
import type { Requester } from '../../../core/tool.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Log } from '../../../lib/log.ts';
import { inlineCode } from '../../../lib/text/text.ts';
import { beyondGroup, directMessage } from '../../../replies/private-parts.ts';
import type { Replies } from '../../../replies/replies.ts';
import type { Store } from '../../../store/store.ts';
import type { McpSettings } from '../mcp-settings.ts';
import { recordName, sharedSubject, type AccountOf } from './account-book.ts';
import type { BeginSignIn } from './begin-sign-in.ts';
import type { SignIn } from './sign-in.ts';
import { SignInProblem, type Challenge } from './sign-in-needed.ts';

/** What came of it. `before`: they were asked earlier, and are not asked again by themselves. */
export type SignInAsked = Readonly<
  { kind: 'asked' | 'before' | 'owners only' } | { kind: 'problem'; why: string }
>;

export type AskToSignIn = (
  of: Readonly<{
    server: string;
    settings: McpSettings;
    requester: Requester;
    challenge?: Challenge | undefined;
    /** Set if the person asked for the link themselves, by this message. Otherwise they are asked once a day at most. */
    again?: string | undefined;
  }>,
) => Promise<SignInAsked>;

/** How long nobody is asked again, in milliseconds. A sign-in that is finished ends this. */
const quietMs = 24 * 3_600_000;

export function subjectOf({ auth }: McpSettings, sender: string): string {
  return auth === 'shared' ? sharedSubject : sender;
}

export function askedKey({ subject, server }: AccountOf): string {
  return `asked ${subject} ${server}`;
}

/** Sends a person the link of a sign-in, where nobody else reads it (X8, U16). */
export function createAskToSignIn(deps: {
  begin: BeginSignIn;
  known: Keyv;
  isOwner(person: string): Promise<boolean>;
  store: Store;
  replies: Replies;
  audit: Audit;
  clock: Clock;
  log: Log;
}): AskToSignIn {
  const { begin, known, isOwner, store, replies, audit, clock, log } = deps;

  async function send(key: string, { requester, ...signIn }: SignIn, say: Say): Promise<void> {
    const text = linkText({ requester, ...signIn }, say);
    const { chatType, conversation, sender, language } = requester;
    if (chatType === 'private') return store.commit({ outbox: await replies.rows(conversation, key, text) });
    const rows = await replies.rows(directMessage(sender), key, text);
    const of = { person: sender, key, group: conversation, at: clock.now(), language };
    await store.commit({ outbox: beyondGroup(rows, of) });
  }

  return async ({ server, settings, requester, challenge, again }) => {
    const { sender } = requester;
    if (settings.auth === 'shared' && !(await isOwner(sender))) return { kind: 'owners only' };
    const subject = subjectOf(settings, sender);
    const place = askedKey({ subject, server });
    const wanted = challenge?.scope ?? '';
    if (again === undefined && (await known.get<string>(place)) === wanted) return { kind: 'before' };
    try {
      const { signIn } = await begin({ server, settings, subject, requester, challenge });
      await send(
        `sign-in:${signIn.id}${again === undefined ? '' : `:${again}`}`,
        signIn.content,
        sayIn(requester.language),
      );
      await known.set(place, wanted, quietMs);
      await audit.record({
        event: 'capability_sign_in',
        sender,
        conversation: conversationKey(requester.conversation),
        chatType: requester.chatType,
        capability: recordName(server),
        step: 'link',
        outcome: 'ok',
      });
      return { kind: 'asked' };
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      log.warn({ server, why }, 'nobody can sign in to an MCP server');
      // Other errors may quote what the server answered.
      return {
        kind: 'problem',
        why: error instanceof SignInProblem ? why : 'its sign-in does not work at the moment',
      };
    }
  };
}

function linkText({ server, link, back, subject }: SignIn, say: Say): string {
  const what =
    subject === sharedSubject
      ? say`${inlineCode(server)} needs a sign-in that I use for everybody who may use it. Sign in here within 30 minutes:`
      : say`To use ${inlineCode(server)} for you, I need you to sign in there. Open this page within 30 minutes:`;
  const then =
    back === 'page'
      ? say`The last page shows a code. Send it to me in a direct message: only then I use the account. Give link and code to nobody else.`
      : say`Then send me the full address of the page you end up on, even if it shows an error. Send it in a direct message. I keep it out of the conversation: the language model never sees it.`;
  return [what, `<${link}>`, then].join('\n\n');
}
