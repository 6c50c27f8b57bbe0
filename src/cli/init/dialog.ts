import { OperatorError } from '../../core/errors.ts';
import { print } from '../console.ts';
import { WentBack } from './going-back.ts';

type Wrong = (answer: string) => string | undefined;

/** How the wizard speaks with the person before it. */
export type Dialog = Readonly<{
  /** False: only the flags say what to do, and steps that they don't name are left out. */
  asks: boolean;
  say(text: string): void;
  /** Asks for a text. An empty answer means `preset`. `wrong` says why an answer can't be; then the question stays. */
  text(question: string, preset?: string, wrong?: Wrong): Promise<string>;
  /** Asks for a text that is not shown while it is typed. */
  secret(question: string, wrong?: Wrong): Promise<string>;
  confirm(question: string, preset: boolean): Promise<boolean>;
  choose<Value extends string>(
    question: string,
    options: readonly Readonly<{ value: Value; label: string; hint?: string }>[],
  ): Promise<Value>;
  /** Shows that something takes a while. If the person goes back, the result is remembered. */
  during<Result>(what: string, work: () => Promise<Result>): Promise<Result>;
  /** Shows that something takes a while. If the person goes back, it is done again, because its result was closed. */
  connect<Result>(what: string, work: () => Promise<Result>): Promise<Result>;
  /** Says the last words of the wizard. */
  end(text: string): void;
}>;

/** A dialog for scripts, which asks nothing. */
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
    connect: (_, work) => work(),
    end: print,
  };
}

/**
 * A dialog at a terminal. Esc rejects with WentBack. Ctrl-C rejects with OperatorError; nothing is written before the
 * end.
 */
export async function atTerminal(): Promise<Dialog> {
  const clack = await import('@clack/prompts');
  function given<Value>(value: Value | typeof clack.CANCEL_SYMBOL): Value {
    if (!clack.isCancel(value)) return value;
    if (pressed === 'escape') throw new WentBack();
    throw new OperatorError('Stopped. Nothing was written.');
  }
  async function during<Result>(what: string, work: () => Promise<Result>): Promise<Result> {
    const shown = clack.spinner();
    shown.start(what);
    try {
      return await work();
    } finally {
      shown.clear();
    }
  }
  // The package reports "cancel" for both keys.
  let pressed: string | undefined;
  process.stdin.on('keypress', (_, key: Readonly<{ name?: string }> | undefined) => {
    pressed = key?.name;
  });
  clack.intro('Skillet: set-up. Esc goes back one question, Ctrl-C stops.');
  return {
    asks: true,
    say: (text) => clack.log.message(text),
    async text(message, preset = '', wrong = () => undefined) {
      const validate = (value = ''): string | undefined => {
        const answer = value.trim() || preset;
        return answer === '' ? 'Write something, or press Esc to go back.' : wrong(answer);
      };
      return given(await clack.text({ message, placeholder: preset, validate })).trim() || preset;
    },
    async secret(message, wrong = () => undefined) {
      const validate = (value = ''): string | undefined =>
        value.trim() === '' ? undefined : wrong(value.trim());
      const answer = given(await clack.password({ message, validate }))?.trim() ?? '';
      if (answer === '') throw new WentBack();
      return answer;
    },
    confirm: async (message, initialValue) => given(await clack.confirm({ message, initialValue })),
    async choose(message, options) {
      // The package's own type depends on whether a value is an object.
      const chosen = await clack.select<string>({ message, options: options.map((one) => ({ ...one })) });
      const value = given(chosen);
      const [found] = options.filter((one) => one.value === value);
      if (found === undefined) throw new Error(`${value} was not offered`);
      return found.value;
    },
    during,
    connect: during,
    end: (text) => clack.outro(text),
  };
}
