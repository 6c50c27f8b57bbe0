import type { CapabilityCode } from '../core/codes.ts';
import type { LinkedAccount } from './bridge-contract.ts';
import type { OpenFlow } from './flow-content.ts';
import { printable } from '../lib/text/printable.ts';
import { inlineCode } from '../lib/text/inline-code.ts';
import { sayIn } from '../core/texts/say.ts';

/** What a person is told to do for a sign-in (C6). */
export function linkText({ capability, content }: OpenFlow, stopCommand: string): string {
  const say = sayIn(content.requester.language);
  const { auth_url: url, user_code: code, flow_type: kind } = content.begun;
  const what = say`The skill ${inlineCode(content.skill)} wants to use ${inlineCode(capability)} with your account. Allow it here within 30 minutes:`;
  const then =
    kind === 'device_code'
      ? say`Enter this code there: ${inlineCode(code ?? '')}. I'll notice when you are done.`
      : say`Then send me the full address of the page you end up on, or the code it shows. I keep it out of the conversation: the language model never sees it.`;
  return [what, `<${url}>`, then, say`${stopCommand} cancels it.`].join('\n\n');
}

/** Shows whose account was linked, and asks. */
export function confirmText(flow: OpenFlow, { account_ref, metadata }: LinkedAccount): string {
  const say = sayIn(flow.content.requester.language);
  const known = Object.entries(metadata).flatMap(([name, value]) =>
    plainName.test(name) && typeof value === 'string' && value !== '' && value !== account_ref
      ? [`- ${name}: ${inlineCode(printable(value))}`]
      : [],
  );
  return [
    say`${inlineCode(flow.capability)} is linked to this account:`,
    [`- ${inlineCode(printable(account_ref))}`, ...known.slice(0, 10)].join('\n'),
    say`Is this your account, and may I use it? Press a button, or write ${inlineCode(`yes ${flow.id}`)} or ${inlineCode(`no ${flow.id}`)}.`,
  ].join('\n\n');
}

/** What stands outside of code in a line to a person. */
const plainName = /^[A-Za-z][\w .-]{0,39}$/;

/** One plain sentence for what went wrong (C7). */
export function failureText(code: CapabilityCode, over: boolean, language: string | undefined): string {
  const say = sayIn(language);
  const again = over ? say`Ask me again to start over.` : say`Please try again with what the page shows you.`;
  const words: Partial<Record<CapabilityCode, string>> = {
    capability_auth_flow_invalid: say`That sign-in is no longer open.`,
    capability_auth_flow_expired: say`That sign-in expired: it lasts 30 minutes.`,
    capability_auth_flow_denied: say`The sign-in was refused on the page, so nothing is linked.`,
    capability_auth_flow_ambiguous: say`You have several open sign-ins. Send the full address of the page, so that I know which one you mean.`,
    capability_auth_callback_invalid: say`That address is incomplete. Copy all of it again.`,
    capability_auth_code_conflict: say`I found two different codes in that. Send only one.`,
    capability_auth_state_mismatch: say`That address is for another sign-in, not the one I sent you.`,
    capability_auth_code_missing: say`There is no code in that address.`,
    capability_backend_unavailable: say`The service is not answering at the moment.`,
  };
  const what = words[code] ?? say`The sign-in did not work.`;
  return code === 'capability_auth_flow_ambiguous' ? what : `${what} ${again}`;
}
