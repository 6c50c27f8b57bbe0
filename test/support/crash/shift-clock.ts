/**
 * Loaded before the bot (`node --import`): each SIGUSR2 moves the process's wall clock by the next number of
 * `SKILLET_CLOCK_SHIFTS` (milliseconds, separated by commas), as a wrong time server or an operator would. Timers go on
 * by their own clock, as they do in life.
 */
const shifts = (process.env['SKILLET_CLOCK_SHIFTS'] ?? '').split(',').map(Number);
const RealDate = Date;
const realNow = RealDate.now.bind(RealDate);
const state = { by: 0 };
const now = (): number => realNow() + state.by;

class ShiftedDate extends RealDate {
  constructor(...given: unknown[]) {
    if (given.length === 0) super(now());
    else super(...(given as [number]));
  }
  static override now(): number {
    return now();
  }
}

globalThis.Date = ShiftedDate as DateConstructor;
process.on('SIGUSR2', () => {
  state.by += shifts.shift() ?? 0;
  process.stderr.write(`{"level":30,"msg":"the clock was moved by ${state.by}"}\n`);
});
