import { OperatorError } from '../../core/errors.ts';
import { print } from '../console.ts';

/** How the wizard speaks with the person before it. */
export type Dialog = Readonly<{
  /** False: flags alone say what to do, and what they don't say is left out. */
  asks: boolean;
  say(text: string): void;
  text(question: string, preset?: string): Promise<string>;
  /** Not shown while it is typed. */
  secret(question: string): Promise<string>;
  confirm(question: string, preset: boolean): Promise<boolean>;
  choose<Value extends string>(
    question: string,
    options: readonly Readonly<{ value: Value; label: string; hint?: string }>[],
  ): Promise<Value>;
  /** Shows that something takes a while. */
  during<Result>(what: string, work: () => Promise<Result>): Promise<Result>;
}>;

/** For scripts. */
export function flagsOnly(): Dialog {
  const never = (): never => {
    throw new Error('nobody can be asked');
  };
  return {
    asks: false,
    say: print,
    text: never,
    secret: never,
    confirm: never,
    choose: never,
    during: (_, work) => work(),
  };
}

/** At a terminal. Ctrl-C rejects with OperatorError: nothing is written before the end. */
export async function atTerminal(): Promise<Dialog> {
  const clack = await import('@clack/prompts');
  function given<Value>(value: Value | typeof clack.CANCEL_SYMBOL): Value {
    if (clack.isCancel(value)) throw new OperatorError('Stopped: nothing was written.');
    return value;
  }
  const filled = (value: string | undefined): string | undefined =>
    value === undefined || value.trim() === '' ? 'Write something, or press Ctrl-C to stop.' : undefined;
  clack.intro('Skillet: set-up');
  return {
    asks: true,
    say: (text) => clack.log.message(text),
    text: async (message, initialValue) =>
      given(await clack.text({ message, initialValue, validate: filled })).trim(),
    secret: async (message) => given(await clack.password({ message, validate: filled })).trim(),
    confirm: async (message, initialValue) => given(await clack.confirm({ message, initialValue })),
    async choose(message, options) {
      // The package's own type depends on whether a value is an object.
      const chosen = await clack.select<string>({ message, options: options.map((one) => ({ ...one })) });
      const value = given(chosen);
      const [found] = options.filter((one) => one.value === value);
      if (found === undefined) throw new Error(`${value} was not offered`);
      return found.value;
    },
    async during(what, work) {
      const shown = clack.spinner();
      shown.start(what);
      try {
        return await work();
      } finally {
        shown.clear();
      }
    },
  };
}
