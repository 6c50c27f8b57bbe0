import type { HandOver, Requester } from '../core/tool.ts';
import {
  describeCall,
  describeInput,
  describeInputInShort,
  describeInShort,
  wholeFile,
} from './describe-call.ts';
import type { StandingRule } from './standing-rules.ts';
import type { Voice } from '../replies/replies.ts';
import { sayIn } from '../core/texts/say.ts';
import { inlineCode } from '../lib/text/inline-code.ts';

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

/** `input`: what stays in view once the message says how it ended. Absent where other messages show it. */
export type ApprovalQuestion = Readonly<{ rows: Rows; input?: string }>;

/** What a person is asked before a call (T8), as one message: what is too long for it is handed over whole as a file, and where that can't be there are several. */
export function createApprovalQuestion(voice: Pick<Voice, 'rows'>) {
  return async (id: string, call: AskedCall, handOver: HandOver | undefined): Promise<ApprovalQuestion> => {
    const say = sayIn(call.requester.language);
    const whole = describeCall(call.tool, call.input, call.skill, say);
    const rows = rowsOn(id, call, whole);
    const { requester, toolUseId } = call;
    /** As it is shown: secrets are taken out (S2). */
    const inView = (input: string): string | undefined =>
      voice.rows(requester.conversation, '', input)[0]?.part.markdown;
    if (rows.length === 1) return asked(rows, inView(describeInput(call.input)));
    if (handOver === undefined) return { rows };
    const of = { requester, turn: `ask:${id}`, call: toolUseId, index: 0 };
    const handed = await handOver({ name: wholeFile, mime: 'text/plain', data: whole }, of);
    if (!handed.ok) return { rows };
    const short = describeInShort(call.tool, call.input, call.skill, say);
    return asked(rowsOn(id, call, short), inView(describeInputInShort(call.input, say)));
  };

  function asked(rows: Rows, input: string | undefined): ApprovalQuestion {
    return { rows, ...(input === undefined ? {} : { input }) };
  }

  function rowsOn(id: string, call: AskedCall, what: string): Rows {
    const say = sayIn(call.requester.language);
    const words = ['yes', 'no', ...(call.standing === undefined ? [] : ['always'])];
    const answers = words.map((word) => inlineCode(`${word} ${id}`)).join(' / ');
    const because = call.because === undefined ? '' : `\n\n${call.because}`;
    const question = say`Approve it within 5 minutes? Press a button, or write ${answers}.`;
    const text = `${what}${because}\n\n${question}`;
    const buttons = [
      { label: say`Approve`, action: `ask:${id}:approve` },
      { label: say`Deny`, action: `ask:${id}:deny` },
      ...(call.standing === undefined ? [] : [{ label: say`Always`, action: `ask:${id}:always` }]),
    ];
    return voice.rows(call.requester.conversation, `ask:${id}`, text, { buttons });
  }
}
