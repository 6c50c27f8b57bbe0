import type { ApprovalRequest } from '../../core/approval.ts';
import type { AuditEvent } from '../../audit/audit-event.ts';
import type { Button } from '../../core/channel.ts';
import { conversationKey } from '../../core/conversation.ts';
import { whoMayApprove } from '../../access/approvers.ts';
import { sayIn, type Say } from '../../core/texts/say.ts';
import type { DeliverArtifacts, Requester } from '../../core/tool.ts';
import { codeBlock, inlineCode, printable } from '../../lib/text/text.ts';
import type { Replies } from '../../replies/replies.ts';
import type { JsonObject, JsonValue, PendingRequest } from '../../store/pending-requests.ts';

const wholeFile = 'what-is-asked.txt';

/** A field of up to `whole` characters is shown whole; of a longer one only its first `beginning` characters. */
const shortField = { whole: 400, beginning: 200 };

/** Characters that fit into one message on every platform. */
const shortEnough = 2_500;

type Rows = Awaited<ReturnType<Replies['rows']>>;

/**
 * `input` stays visible when the outcome is shown. Undefined: other messages show it. `details` are for people who may
 * answer; undefined in a direct message, where the question shows them.
 */
type ApprovalQuestion = Readonly<{ rows: Rows; input?: string; details?: JsonObject }>;

/**
 * Makes the question. In a group it says who wants to use what, with a button for those who may answer (U16). In a
 * direct message it is one message if possible (T8). If the input is too long for that, it goes into a file or into
 * several messages, and is never cut.
 */
export function createApprovalQuestion(replies: Replies) {
  return async (
    id: string,
    call: ApprovalRequest,
    deliverArtifacts: DeliverArtifacts | undefined,
  ): Promise<ApprovalQuestion> => {
    const { requester, toolUseId } = call;
    const say = sayIn(requester.language);
    const whole = describeCall(call.tool, call.input, call.skill, say);
    /** The input as it will be shown, with secrets redacted (S2). */
    const inView = async (input: string): Promise<string | undefined> => {
      const shown = await replies.rows(requester.conversation, '', `${forWhom(requester, say)}${input}`);
      return shown[0]?.part.markdown;
    };
    const rows = await rowsOn(id, call, whole);
    const short = describeInputInShort(call.input, say);
    if (requester.chatType !== 'private')
      return {
        rows: await neutralRows(replies, id, call),
        input: await inView(rows.length === 1 ? describeInput(call.input) : short),
        details: detailsOf(call, say),
      };
    if (rows.length === 1) return { rows, input: await inView(describeInput(call.input)) };
    if (deliverArtifacts === undefined) return { rows };
    const of = { requester, turn: `ask:${id}`, call: toolUseId, index: 0 };
    const handed = await deliverArtifacts([{ name: wholeFile, mime: 'text/plain', data: whole }], of);
    if (handed[0]?.ok !== true) return { rows };
    const inShort = describeInShort(call.tool, call.input, call.skill, say);
    return { rows: await rowsOn(id, call, inShort), input: await inView(short) };
  };

  function rowsOn(id: string, call: ApprovalRequest, what: string): Promise<Rows> {
    const { requester, standing } = call;
    const say = sayIn(requester.language);
    const others = call.others && whoMayApprove(call.others, say);
    const because = [call.because, others].filter((one) => one !== undefined).map((one) => `\n\n${one}`);
    const question = askForAnswer(id, standing !== undefined, say);
    const text = `${forWhom(requester, say)}${what}${because.join('')}\n\n${question}`;
    const buttons = answerButtons(id, standing !== undefined, say);
    const { conversation, replyTo } = requester;
    return replies.rows(conversation, `ask:${id}`, text, { buttons, replyTo });
  }
}

/** What everybody in a group reads of a question (U16). */
function neutralRows(
  replies: Parameters<typeof createApprovalQuestion>[0],
  id: string,
  { tool, skill, byApprover, others, requester }: ApprovalRequest,
): Promise<Rows> {
  const say = sayIn(requester.language);
  const needs =
    skill === undefined
      ? say`I need a yes to use ${code(tool)}.`
      : say`The skill ${code(skill)} needs a yes to use ${code(tool)}.`;
  const who =
    others === undefined
      ? byApprover === true && say`An owner or an approver has to answer.`
      : say`Another approver has to answer.`;
  const text = [needs, ...(who === false ? [] : [who])].join(' ');
  const buttons = [{ label: say`Details`, action: `ask:${id}:details` }];
  const { conversation, replyTo } = requester;
  return replies.rows(conversation, `ask:${id}`, `${forWhom(requester, say)}${text}`, { buttons, replyTo });
}

function detailsOf({ input, because, others }: ApprovalRequest, say: Say): JsonObject {
  const known = JSON.parse(JSON.stringify(input ?? null)) as JsonValue;
  return { input: known, because, others: others && whoMayApprove(others, say) };
}

/** Says how to answer, with the words that do it without a button. */
export function askForAnswer(id: string, canStand: boolean, say: Say): string {
  const words = [say`yes`, say`no`, ...(canStand ? [say`always`] : [])];
  const answers = words.map((word) => inlineCode(`${word} ${id}`)).join(' / ');
  return say`Approve it within 5 minutes? Press a button, or reply ${answers}.`;
}

export function answerButtons(id: string, canStand: boolean, say: Say): readonly Button[] {
  return [
    { label: say`Approve`, action: `ask:${id}:approve` },
    { label: say`Deny`, action: `ask:${id}:deny` },
    ...(canStand ? [{ label: say`Always`, action: `ask:${id}:always` }] : []),
  ];
}

/** Names the person whom the call is for, in chats where several people ask. A name in code notifies nobody. */
function forWhom({ chatType, name, sender }: Requester, say: Say): string {
  return chatType === 'private' ? '' : `${say`For ${inlineCode(name ?? sender)}:`}\n\n`;
}

/** The call with every field whole and hidden characters escaped (T8). */
export function describeCall(tool: string, input: unknown, skill: string | undefined, say: Say): string {
  return `${whoWants(tool, skill, say)}\n\n${describeInput(input)}`;
}

function describeInput(input: unknown): string {
  return fieldsOf(input)
    .map(([name, value]) => `${code(name)}\n\n${codeBlock(shown(value))}`)
    .join('\n\n');
}

export function describeInShort(tool: string, input: unknown, skill: string | undefined, say: Say): string {
  return `${whoWants(tool, skill, say)}\n\n${describeInputInShort(input, say)}`;
}

/** Fields with the beginnings of long ones. If even that is too long, only the number of fields. */
function describeInputInShort(input: unknown, say: Say): string {
  const fields = fieldsOf(input).map(([name, value]) => {
    const text = shown(value);
    if (text.length <= shortField.whole) return `${code(name)}\n\n${codeBlock(text)}`;
    const beginning = codeBlock(text.slice(0, shortField.beginning).toWellFormed());
    const how = say`${code(name)}: ${text.length} characters, whole in ${code(wholeFile)}. They begin:`;
    return `${how}\n\n${beginning}`;
  });
  const text = fields.join('\n\n');
  return text.length <= shortEnough ? text : say`${fields.length} fields, whole in ${code(wholeFile)}.`;
}

function whoWants(tool: string, skill: string | undefined, say: Say): string {
  return skill === undefined
    ? say`I want to use ${code(tool)}:`
    : say`The skill ${code(skill)} wants to use ${code(tool)}:`;
}

function fieldsOf(input: unknown): readonly (readonly [string, unknown])[] {
  return typeof input === 'object' && input !== null && !Array.isArray(input)
    ? Object.entries(input as Readonly<Record<string, unknown>>)
    : [['input', input]];
}

function shown(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value, null, 1) ?? '');
}

/** Unlike `inlineCode`, this never cuts. */
function code(text: string): string {
  return `\`${printable(text).replaceAll('`', "'")}\``;
}

export function outcomeText(request: PendingRequest): string {
  const { payload, state, answer } = request;
  const say = sayIn(languageOf(request));
  const tool = inlineCode(textOfJson(payload['tool']));
  const what = payload['skill'] === undefined ? tool : say`${tool} of ${textOfJson(payload['skill'])}`;
  if (state === 'expired')
    return say`Not approved in time, so denied: ${what}. Ask me again if you still want it.`;
  if (state === 'cancelled') return say`Stopped: ${what}.`;
  const name = inlineCode(answer?.name ?? answer?.by ?? '');
  if (answer?.value === 'always') return say`Approved from now on, for any input, by ${name}: ${what}.`;
  return isApproved(request) ? say`Approved by ${name}: ${what}.` : say`Denied by ${name}: ${what}.`;
}

export function auditOf(request: PendingRequest): AuditEvent {
  const { id, payload, conversation, requester, state, answer } = request;
  const answered = isApproved(request) ? 'approved' : 'denied';
  return {
    event: 'approval',
    id,
    tool: textOfJson(payload['tool']),
    skill: payload['skill'] === undefined ? undefined : textOfJson(payload['skill']),
    conversation: conversationKey(conversation),
    requester,
    outcome: state === 'answered' || state === 'open' ? answered : state,
    by: answer?.by,
  };
}

export function languageOf({ payload }: PendingRequest): string | undefined {
  return textOfJson(payload['language']);
}

export function isApproved({ answer }: PendingRequest): boolean {
  return answer?.value === 'approve' || answer?.value === 'always';
}

export function textOfJson(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}
