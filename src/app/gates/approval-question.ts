import type { HandOver, Requester } from '../../core/tool.ts';
import { describeCall, describeInShort, wholeFile } from './describe-call.ts';
import type { StandingRule } from './standing-rules.ts';
import type { Voice } from '../voice.ts';

/** A call that a person is to agree to. */
export type AskedCall = Readonly<{
  tool: string;
  /** Which one of that name: see `Tool`. */
  edition?: string;
  input: unknown;
  /** The skill whose run calls; absent for the main agent. */
  skill?: string;
  /** Hash of that skill's files, as far as they count for what the call does. */
  files?: string;
  /** What "Always" would allow from now on; absent where it may not. */
  standing?: StandingRule;
  /** Why it is asked, where that is not plain. */
  because?: string;
  requester: Requester;
  /** Transcript and call that wait. */
  transcript: string;
  toolUseId: string;
  /** The run that waits, by its id. */
  run?: string;
}>;

type Rows = ReturnType<Voice['rows']>;

/** What a person is asked before a call (T8), as one message: what is too long for it is handed over whole as a file, and where that can't be there are several. */
export function createApprovalQuestion(voice: Pick<Voice, 'rows'>) {
  return async (id: string, call: AskedCall, handOver: HandOver | undefined): Promise<Rows> => {
    const whole = describeCall(call.tool, call.input, call.skill);
    const rows = rowsOn(id, call, whole);
    if (rows.length === 1 || handOver === undefined) return rows;
    const { requester, toolUseId } = call;
    const of = { requester, turn: `ask:${id}`, call: toolUseId, index: 0 };
    const handed = await handOver({ name: wholeFile, mime: 'text/plain', data: whole }, of);
    return handed.ok ? rowsOn(id, call, describeInShort(call.tool, call.input, call.skill)) : rows;
  };

  function rowsOn(id: string, call: AskedCall, what: string): Rows {
    const because = call.because === undefined ? '' : `\n\n${call.because}`;
    const text = `${what}${because}\n\nApprove it within 5 minutes? Buttons, or \`yes ${id}\` / \`no ${id}\`${call.standing === undefined ? '' : ` / \`always ${id}\``}.`;
    const buttons = [
      { label: 'Approve', action: `ask:${id}:approve` },
      { label: 'Deny', action: `ask:${id}:deny` },
      ...(call.standing === undefined ? [] : [{ label: 'Always', action: `ask:${id}:always` }]),
    ];
    return voice.rows(call.requester.conversation, `ask:${id}`, text, { buttons });
  }
}
