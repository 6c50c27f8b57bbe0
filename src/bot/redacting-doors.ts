import type { Models } from '../core/model.ts';
import type { Channel, ChannelEvent } from '../core/channel.ts';
import { OperatorError } from '../core/errors.ts';
import type { Model } from '../core/model.ts';
import { redactTexts, type Redaction } from '../lib/redaction/redact.ts';
import { aroundStore, same } from '../store/around-store.ts';
import type { Store } from '../store/store.ts';
import type { Audit } from '../audit/create-audit.ts';
import {
  cleanAnswer,
  cleanEntry,
  cleanEvent,
  cleanMessage,
  cleanPart,
  cleanRequest,
  cleanRoutine,
} from './redact-data.ts';
import type { AnswerOperation } from '../channels/terminal/control.ts';

export type Clean = () => Redaction;

/** Redacts what models are sent and what they answer (U3, S2). */
export function cleanModels(models: Models, clean: Clean): Models {
  return {
    ...models,
    get: (name, around = (model) => model) => models.get(name, (model) => around(cleanModel(model, clean))),
  };
}

function cleanModel(model: Model, clean: Clean): Model {
  return {
    ...model,
    async complete(request, signal, onText) {
      const redaction = clean();
      const { text, textInParts } = redaction;
      const said = textInParts();
      const say = (part: string): void => {
        if (part !== '') onText?.(part);
      };
      const asked = cleanRequest(request, redaction);
      const answer = await model
        .complete(asked, signal, (part) => say(said.push(part)))
        .catch((error: unknown) => {
          // The words so far are the answer of a turn that was stopped (U15).
          if (signal.aborted) say(said.end(true));
          throw error;
        });
      say(said.end());
      return cleanAnswer(answer, text);
    },
  };
}

/** A store in which nothing is stored with secrets in it (S2). */
export function cleanStore(store: Store, clean: Clean): Store {
  const redact = (text: string): string => clean().text(text);
  // Accounts are encrypted, and their sign-ins, too.
  const encrypted = {
    ...same('claimKey', 'keyCheck', 'accounts', 'removeAccount', 'changeAccount', 'begin', 'flow', 'flows'),
    ...same('flowsSince', 'change', 'link', 'endFlows', 'takeDue', 'holdOn', 'nextDue', 'outcome'),
    ...same('keepOutcome', 'forget'),
  };
  return aroundStore(store, {
    inbox: {
      accept: (accept) => (message, options) => accept(cleanMessage(message, redact), options),
      replace: (replace) => (message) => replace(cleanMessage(message, redact)),
      fail: (fail) => (key, error, retryAt) => fail(key, redact(error), retryAt),
      postpone: (postpone) => (key, error, retryAt) => postpone(key, redact(error), retryAt),
      ...same(
        'begun',
        'startWorker',
        'take',
        'takeAlong',
        'untake',
        'list',
        'waitingIn',
        'behind',
        'beside',
        'retry',
        'drop',
      ),
    },
    outbox: {
      retry: (retry) => (key, error, at) => retry(key, redact(error), at),
      dead: (dead) => (key, error) => dead(key, redact(error)),
      ...same('startWorker', 'next', 'sending', 'sent', 'repeated', 'givenUp', 'revive', 'pending'),
      ...same('show', 'shown', 'receipt', 'sentAs'),
    },
    transcripts: same('current', 'read', 'archive', 'answered', 'turnsSince'),
    groupContext: {
      add: (add) => (message, now) => add(cleanMessage(message, redact), now),
      ...same('remove', 'recent'),
    },
    pendingRequests: {
      add: (add) => (request) =>
        add(
          request.kind === 'question'
            ? { ...request, payload: redactTexts(request.payload, redact) }
            : request,
        ),
      answer: (answer) => (id, given) => answer(id, { ...given, value: redact(given.value) }),
      ...same('find', 'open', 'waiting', 'expire', 'takeUnshown'),
    },
    capabilities: encrypted,
    serverAccounts: encrypted,
    routines: {
      add: (add) => (routine, most) =>
        add({ ...routine, definition: cleanRoutine(routine.definition, redact) }, most),
      change: (change) => (id, to) => change(id, { ...to, definition: cleanRoutine(to.definition, redact) }),
      settle: (settle) => (id, last) => settle(id, { ...last, note: last.note && redact(last.note) }),
      ...same('find', 'of', 'within', 'all', 'due', 'nextDue', 'skip', 'remove', 'removeOf'),
    },
    fire: (fire) => (firing) => fire({ ...firing, message: cleanMessage(firing.message, redact) }),
    memories: {
      add: (add) => (memory, most) => add({ ...memory, text: redact(memory.text) }, most),
      ...same('find', 'of', 'by', 'counts', 'used', 'seen', 'remove', 'search'),
    },
    feedback: {
      explain: (explain) => (id, reason) => explain(id, redact(reason)),
      // Question and answer come from parts that hold no secret.
      ...same('give', 'find', 'list'),
    },
    signals: {
      send: (send) => (topic, text) => send(topic, told.has(topic) ? redact(text) : text),
      ...same('on'),
    },
    commit:
      (commit) =>
      ({ entries, outbox: rows, work, searchable, ...step }) =>
        commit({
          ...step,
          entries: entries?.map((one) => ({ ...one, entry: cleanEntry(one.entry, redact) })),
          outbox: rows?.map((row) => ({ ...row, part: cleanPart(row.part, redact) })),
          searchable: searchable?.map((one) => ({ ...one, text: redact(one.text) })),
          work: work?.map((one) => ({ ...one, message: cleanMessage(one.message, redact) })),
        }),
    addWork: (addWork) => (work, refuse) =>
      addWork({ ...work, message: cleanMessage(work.message, redact) }, refuse),
    ...same(
      'stop',
      'keyed',
      'files',
      'usage',
      'usedBetween',
      'stats',
      'lead',
      'reserve',
      'countUse',
      'prune',
      'forget',
    ),
    ...same('person', 'placesNaming'),
    ...same('backup', 'backlog', 'check', 'close'),
  });
}

/** Hints whose text people read. */
const told: ReadonlySet<string> = new Set(['progress', 'step']);

/** A channel that redacts all that it sends, also what was stored earlier (S2). */
export function cleanChannel(channel: Channel, clean: Clean): Channel {
  const { readEarlier } = channel;
  const redact = (text: string): string => clean().text(text);
  return {
    ...channel,
    start: (onEvent) => channel.start((event) => onEvent(cleanTelling(event, redact))),
    send: (conversation, part, ...more) => channel.send(conversation, cleanPart(part, redact), ...more),
    edit: (conversation, receipt, part) => channel.edit(conversation, receipt, cleanPart(part, redact)),
    status: (conversation, status, placeholder) =>
      channel.status(
        conversation,
        status === undefined ? undefined : redactTexts(status, redact),
        placeholder,
      ),
    readEarlier:
      readEarlier &&
      (async (...of) => (await readEarlier(...of)).map((earlier) => cleanMessage(earlier, redact))),
    setMenus: (menus, language) => channel.setMenus(redactTexts(menus, redact), language),
  };
}

/** Redacts what an event's functions show. What a form shows is redacted already. */
function cleanTelling(event: ChannelEvent, redact: (text: string) => string): ChannelEvent {
  if (event.type === 'home') {
    const { showHome } = event;
    return { ...event, showHome: (home) => showHome(redactTexts(home, redact)) };
  }
  if (event.type === 'opened') {
    const { suggest } = event;
    return { ...event, suggest: (prompts) => suggest(redactTexts(prompts, redact)) };
  }
  if (event.type !== 'press' || event.tell === undefined) return event;
  const { tell } = event;
  return { ...event, tell: (words) => tell(redact(words)) };
}

export function cleanAudit(audit: Audit, clean: Clean): Audit {
  return { ...audit, record: (event) => audit.record(cleanEvent(event, clean().text)) };
}

/** Redacts the results of operations, and their errors. */
export function cleanOperate(operate: AnswerOperation, clean: Clean): AnswerOperation {
  return async (...asked) => {
    try {
      return redactTexts(await operate(...asked), clean().text);
    } catch (error) {
      const said = error instanceof Error ? error.message : String(error);
      // A stack would say too much about the host.
      throw new OperatorError(clean().text(said), { cause: error });
    }
  };
}
