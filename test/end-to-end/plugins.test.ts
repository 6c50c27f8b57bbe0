import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { isRun, resultsIn, type ScriptedCall } from '../support/call-steps.ts';
import type { MessagesRequest } from '../servers/messages/request-shape.ts';
import type { ServerStep } from '../servers/messages/answer.ts';
import { startWholeBot, type WholeBot } from '../support/whole-bot.ts';

const expenses = path.join(import.meta.dirname, '../../examples/expenses');
const base =
  '[access]\ndm = "open"\ngroups_mode = "open"\n[access.telegram]\ngroup_users = ["*"]\n[skills]\nbundled = false\n';

const listed = (folder: string, more = ''): string => `[[plugins]]\npath = "${folder}"\n${more}\n`;

/** Makes these calls one after another, each in an answer of its own, in every turn of its kind; then says `said`. */
function making(calls: readonly ScriptedCall[], said: string) {
  return (request: MessagesRequest): ServerStep => {
    const last = request.messages.findLastIndex(
      ({ role, content }) => role === 'user' && !JSON.stringify(content).includes('tool_result'),
    );
    const done = resultsIn({ ...request, messages: request.messages.slice(last) }).length;
    const call = calls[done];
    if (call === undefined) return said;
    return { content: [{ type: 'tool_use', id: `toolu_${last}_${done}`, ...call }], stopReason: 'tool_use' };
  };
}

const toolsOf = ({ tools }: MessagesRequest): readonly string[] =>
  (tools ?? []).map(({ name }) => String(name));
const lastRequest = (bot: WholeBot, of: (request: MessagesRequest) => boolean): MessagesRequest =>
  bot.messages.requests.map(({ body }) => body).findLast(of) ?? assert.fail('no such request');
const isMain = (request: MessagesRequest): boolean => !isRun(request);

const pizza = { what: 'pizza', amount: 30, paid_by: 'Ann', shared_by: ['Ann', 'Bob', 'Cleo'] };

test('X1 X4 X5 T12 the example on Telegram: the main agent writes an expense down, a skill that comes with it settles up and sends the list', async (t) => {
  const main = making([{ name: 'expense_add', input: pizza }], 'Written down.');
  const run = making([{ name: 'expense_settle', input: {} }], 'Bob pays Ann 10, Cleo pays Ann 10.');
  const bot = await startWholeBot(t, {
    toml: base + listed(expenses) + '[tools.expense_settle]\nseparator = ";"\n',
    script: (request) =>
      isRun(request)
        ? run(request)
        : JSON.stringify(request.messages).includes('settle-up')
          ? 'Bob and Cleo pay Ann 10 each.'
          : main(request),
  });
  const ann = bot.telegram.person({ name: 'Ann' });
  ann.says('I paid 30 for pizza, for Bob and Cleo too');
  await ann.dm.nextMessage('Written down.');
  assert.match(resultsIn(lastRequest(bot, isMain)).at(-1)!, /expenses.{2,6}: 1/);
  ann.says('/settle-up');
  const sent = await ann.dm.nextFile('expenses.csv');
  assert.equal(
    sent.file.bytes.toString(),
    'what;EUR;paid by;shared by\n"pizza";30.00;"Ann";"Ann Bob Cleo"\n',
  );
  await ann.dm.nextMessage('Bob and Cleo pay Ann 10 each.');
  const [settled] = resultsIn(lastRequest(bot, isRun));
  assert.match(settled!, /"from\\":\s*\\"Bob.*amount\\":\s*10/s);
  assert.match(settled!, /delivered to the conversation: expenses\.csv/);
  assert.deepEqual(toolsOf(lastRequest(bot, isRun)).toSorted(), [
    'ask_person',
    'expense_settle',
    'skills_read_file',
  ]);
  const lines = bot.log.lines.filter(({ message }) => message === 'settled up');
  assert.deepEqual(
    lines.map(({ fields }) => fields),
    [{ expenses: 1, payments: 2, plugin: 'expenses', tool: 'expense_settle' }],
  );
});
