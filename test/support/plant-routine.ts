import { openStore } from '../../src/store/open-store.ts';
import type { Routine, RoutineDefinition } from '../../src/store/routines.ts';
import { makeRoutine } from './routines-contract.ts';
import type { WholeBot } from './whole-bot.ts';

type Planted = Partial<RoutineDefinition> & Readonly<{ creator: RoutineDefinition['creator'] }>;

/** Ends the bot, puts routines into its store that are due since `agoMs`, and starts it again. */
export async function plantRoutines(
  bot: WholeBot,
  routines: Readonly<Record<string, Planted>>,
  agoMs = 1_000,
): Promise<WholeBot> {
  await bot.bot.close();
  const store = await openStore(`sqlite:${bot.home}/data/skillet.db`);
  for (const [id, definition] of Object.entries(routines))
    await store.routines.add(makeRoutine(id, { dueAt: Date.now() - agoMs, definition }), 99);
  await store.close();
  return bot.restart();
}

/** Due once more, `agoMs` ago, and then weekly. */
export async function dueAgain(bot: WholeBot, id: string, agoMs = 1_000): Promise<WholeBot> {
  await bot.bot.close();
  const store = await openStore(`sqlite:${bot.home}/data/skillet.db`);
  const routine = await store.routines.find(id);
  if (routine === undefined) throw new Error(`there is no routine ${id}`);
  const { definition, state } = routine;
  await store.routines.change(id, { definition, state, dueAt: Date.now() - agoMs });
  await store.close();
  return bot.restart();
}

/** What the store holds; the bot is ended for it. */
export async function readRoutines(bot: WholeBot): Promise<readonly Routine[]> {
  await bot.bot.close();
  const store = await openStore(`sqlite:${bot.home}/data/skillet.db`);
  try {
    return await store.routines.all();
  } finally {
    await store.close();
  }
}
