/**
 * An example of a plugin that people can use as it is: what a group spent is written down, and who owes whom is worked out.
 * Expenses are kept in the conversation's own folder, so no other conversation has anything to do with them.
 */
import { definePlugin, defineTool, type ToolContext } from 'skillet/plugin';
import { z } from 'zod';

const expense = z.object({
  what: z.string().trim().min(1).max(200).describe('What was bought, in a few words.'),
  amount: z.number().positive().describe('What was paid, in the currency of this chat.'),
  paid_by: z.string().trim().min(1).max(60).describe('Who paid: the name the group uses.'),
  shared_by: z
    .array(z.string().trim().min(1).max(60))
    .min(1)
    .max(50)
    .describe('Everybody it is shared by in equal parts, who paid included if they take part.'),
});
type Expense = z.output<typeof expense>;

const settings = z.object({
  currency: z
    .enum(['EUR', 'USD', 'GBP', 'CHF'])
    .default('EUR')
    .meta({ title: 'Currency', description: 'What amounts are in. Nothing is converted.' }),
  separator: z
    .enum([',', ';'])
    .default(',')
    .meta({
      title: 'Separator',
      description: 'Between the columns of the list that is sent.',
      options: { ',': 'Comma', ';': 'Semicolon' },
    }),
});

const file = '/chat/expenses.json';

async function readExpenses({ workspace }: Pick<ToolContext, 'workspace'>): Promise<readonly Expense[]> {
  const entries = await workspace.list('/chat');
  if (!entries.some(({ path }) => path === file)) return [];
  return z.array(expense).parse(JSON.parse(await workspace.readText(file)));
}

/** What everybody is owed (or owes, below zero), in hundredths, so that nothing is lost by rounding. */
export function balances(expenses: readonly Expense[]): ReadonlyMap<string, number> {
  const owed = new Map<string, number>();
  const add = (name: string, cents: number): void => void owed.set(name, (owed.get(name) ?? 0) + cents);
  for (const { amount, paid_by: payer, shared_by: people } of expenses) {
    const cents = Math.round(amount * 100);
    add(payer, cents);
    // The first few carry the odd cents.
    people.forEach((name, index) =>
      add(name, -(Math.floor(cents / people.length) + (index < cents % people.length ? 1 : 0))),
    );
  }
  return owed;
}

type Transfer = Readonly<{ from: string; to: string; amount: number }>;

/** Few payments after which nobody owes anything: who owes most pays who is owed most. */
export function transfers(owed: ReadonlyMap<string, number>): readonly Transfer[] {
  const left = new Map(owed);
  const most = (sign: 1 | -1) =>
    [...left].filter(([, cents]) => cents * sign > 0).sort((a, b) => sign * (b[1] - a[1]))[0];
  const payments: Transfer[] = [];
  for (let [to, from] = [most(1), most(-1)]; to && from; [to, from] = [most(1), most(-1)]) {
    const cents = Math.min(to[1], -from[1]);
    payments.push({ from: from[0], to: to[0], amount: cents / 100 });
    left.set(to[0], to[1] - cents);
    left.set(from[0], from[1] + cents);
  }
  return payments;
}

function csv(expenses: readonly Expense[], separator: string, currency: string): string {
  const cell = (text: string): string => `"${text.replaceAll('"', '""')}"`;
  const rows = expenses.map(({ what, amount, paid_by: payer, shared_by: people }) =>
    [cell(what), amount.toFixed(2), cell(payer), cell(people.join(' '))].join(separator),
  );
  return [['what', currency, 'paid by', 'shared by'].join(separator), ...rows, ''].join('\n');
}

export default definePlugin({
  name: 'expenses',
  skills: './skills',
  config: z.object({
    largest: z
      .number()
      .positive()
      .default(10_000)
      .describe('More than this is taken for a slip of the hand.'),
  }),
  tools: ({ config }) => [
    defineTool({
      name: 'expense_add',
      displayName: 'Add an expense',
      icon: '🧾',
      category: 'money',
      tags: ['expenses', 'groups'],
      description: 'Writes down what somebody in this chat paid for others.',
      input: expense,
      output: z.object({ expenses: z.int(), currency: z.string() }),
      settings,
      sideEffects: true,
      async run(added, context) {
        const { currency } = context.settings;
        if (added.amount > config.largest)
          throw new Error(
            `${added.amount} ${currency} is more than ${config.largest}: ask whether it is a slip`,
          );
        const expenses = [...(await readExpenses(context)), added];
        await context.workspace.write(file, JSON.stringify(expenses));
        return { expenses: expenses.length, currency };
      },
    }),
    defineTool({
      name: 'expense_settle',
      displayName: 'Settle up',
      icon: '🤝',
      category: 'money',
      tags: ['expenses', 'groups'],
      description:
        'Works out who owes whom of all expenses written down in this chat, and sends the list as a file.',
      input: z.object({
        and_clear: z.boolean().default(false).describe('True once everybody has paid: begins a new list.'),
      }),
      settings,
      sideEffects: true,
      async run({ and_clear: clear }, context) {
        const { currency, separator } = context.settings;
        const expenses = await readExpenses(context);
        if (expenses.length === 0) return 'Nothing is written down in this chat.';
        context.progress(`adding up ${expenses.length} expenses`);
        const payments = transfers(balances(expenses));
        if (clear) await context.workspace.write(file, '[]');
        context.log.info({ expenses: expenses.length, payments: payments.length }, 'settled up');
        return {
          artifacts: [{ name: 'expenses.csv', mime: 'text/csv', data: csv(expenses, separator, currency) }],
          data: { currency, payments, cleared: clear },
        };
      },
    }),
  ],
});
