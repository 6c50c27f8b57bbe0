import type { CapabilityCode } from '../../core/codes.ts';
import type { LinkedAccount } from '../../capabilities/bridge-contract.ts';
import type { OpenFlow } from '../../capabilities/flow-content.ts';
import { printable } from '../../skills/printable.ts';
import { inlineCode } from '../inline-code.ts';

/** What a person is told to do for a sign-in (C6). */
export function linkText({ capability, content }: OpenFlow, stopCommand: string): string {
  const { auth_url: url, user_code: code, flow_type: kind } = content.begun;
  const what = `The skill ${inlineCode(content.skill)} wants to use ${inlineCode(capability)} with your account. Allow it here within 30 minutes:`;
  const then =
    kind === 'device_code'
      ? `Enter this code there: ${inlineCode(code ?? '')}. I'll notice when you are done.`
      : 'Then send me the full address of the page you end up on, or the code it shows. I keep it out of the conversation: the language model never sees it.';
  return [what, `<${url}>`, then, `${stopCommand} cancels it.`].join('\n\n');
}

/** Shows whose account was linked, and asks. */
export function confirmText(flow: OpenFlow, { account_ref, metadata }: LinkedAccount): string {
  const known = Object.entries(metadata).flatMap(([name, value]) =>
    plainName.test(name) && typeof value === 'string' && value !== '' && value !== account_ref
      ? [`- ${name}: ${inlineCode(printable(value))}`]
      : [],
  );
  return [
    `${inlineCode(flow.capability)} is linked to this account:`,
    [`- ${inlineCode(printable(account_ref))}`, ...known.slice(0, 10)].join('\n'),
    `Is this your account, and may I use it? Press a button, or write \`yes ${flow.id}\` or \`no ${flow.id}\`.`,
  ].join('\n\n');
}

/** What stands outside of code in a line to a person. */
const plainName = /^[A-Za-z][\w .-]{0,39}$/;

/** One plain sentence for what went wrong (C7). */
export function failureText(code: CapabilityCode, over: boolean): string {
  const again = over ? ' Ask me again to start over.' : ' Please try again with what the page shows you.';
  const words: Partial<Record<CapabilityCode, string>> = {
    capability_auth_flow_invalid: 'That sign-in is no longer open.',
    capability_auth_flow_expired: 'That sign-in expired: it lasts 30 minutes.',
    capability_auth_flow_denied: 'The sign-in was refused on the page, so nothing is linked.',
    capability_auth_flow_ambiguous:
      'You have several open sign-ins. Send the full address of the page, so that I know which one you mean.',
    capability_auth_callback_invalid: 'That address is incomplete. Copy all of it again.',
    capability_auth_code_conflict: 'I found two different codes in that. Send only one.',
    capability_auth_state_mismatch: 'That address is for another sign-in, not the one I sent you.',
    capability_auth_code_missing: 'There is no code in that address.',
    capability_backend_unavailable: 'The service is not answering at the moment.',
  };
  return `${words[code] ?? 'The sign-in did not work.'}${code === 'capability_auth_flow_ambiguous' ? '' : again}`;
}
