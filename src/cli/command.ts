import { InvalidArgumentError } from 'commander';

/** An option or argument, as data. Parsing, help, docs and shell completion follow from it. */
export type Parameter<Value> = Readonly<{
  about: string;
  /** What stands for the value in the help, such as `file`. A switch has none. */
  value?: string;
  short?: string;
  choices?: readonly string[];
  preset?: Value;
  /** Reads the value. The option may be given again: `before` is the value so far. */
  read?(text: string, before: Value | undefined): Value;
  required?: true;
}>;

type Parameters = Readonly<Record<string, Parameter<unknown>>>;
type Values<Of extends Parameters> = {
  readonly [Name in keyof Of]: Of[Name] extends Parameter<infer Value> ? Value : never;
};

/** Options that more than one command has. */
export type SharedOptions = Readonly<{
  /** The value of `--config`: the path of the configuration. */
  config?: string;
  json?: boolean;
}>;

export type CliCommand = Readonly<{
  /** All words of the command, such as `pair list`. */
  name: string;
  about: string;
  args: Parameters;
  options: Parameters;
  examples: readonly string[];
  /** What the command needs to run. `bot` asks the running bot, or the store itself if none runs. */
  needs: 'bot' | 'config' | 'nothing';
  /** Whether the command has the option `--json`. */
  json: boolean;
  run(given: never): Promise<void>;
}>;

/**
 * Declares a command. `run` gets arguments and options by name. All declarations are loaded at each start, so import
 * what is slow to load inside of `run`.
 */
export function command<Args extends Parameters, Options extends Parameters>(
  declared: Readonly<{
    name: string;
    about: string;
    args?: Args;
    options?: Options;
    examples?: readonly string[];
    needs?: CliCommand['needs'];
    json?: true;
    run(given: Values<Args> & Values<Options> & SharedOptions): Promise<void>;
  }>,
): CliCommand {
  const { args = {}, options = {}, examples = [], needs = 'config', json = false } = declared;
  return { ...declared, args, options, examples, needs, json };
}

export function flag(about: string): Parameter<boolean | undefined> {
  return { about };
}

export function option(value: string, about: string): Parameter<string | undefined>;
export function option<Value>(
  value: string,
  about: string,
  how: Pick<Parameter<Value>, 'short' | 'choices' | 'preset' | 'read' | 'required'>,
): Parameter<Value>;
export function option(value: string, about: string, how: object = {}): Parameter<never> {
  return { value, about, ...how };
}

export function argument(about: string, read?: (text: string) => string): Parameter<string> {
  return { about, read, required: true };
}

export function optional(about: string): Parameter<string | undefined> {
  return { about };
}

export function count(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Write a number from 1 to 999999.');
}

/** Reads a month of the calendar, such as 2026-10. */
export function month(text: string): string {
  if (/^\d{4}-(?:0[1-9]|1[0-2])$/.test(text)) return text;
  throw new InvalidArgumentError('Write a month with its year, such as 2026-10.');
}

export function portNumber(text: string): number {
  const port = count(text);
  if (port <= 65_535) return port;
  throw new InvalidArgumentError('Write a port from 1 to 65535.');
}

/** Collects the values of an option that may be given again. */
export function gather(one: string, all: readonly string[] | undefined): readonly string[] {
  return [...(all ?? []), one];
}

export function senderId(text: string): string {
  if (/^[a-z]+:.+$/.test(text)) return text;
  throw new InvalidArgumentError('Write the whole id, such as telegram:42 or slack:U024BE7LH.');
}

export function filled(text: string): string {
  if (text.trim() !== '') return text;
  throw new InvalidArgumentError('Write something between the quotes.');
}

/** Reads the input of an operation, such as `notes.book:add={"text":"x"}`, and adds it to the ones before. */
export function operationInput(
  text: string,
  before: Readonly<Record<string, Readonly<Record<string, unknown>>>> | undefined,
): Readonly<Record<string, Readonly<Record<string, unknown>>>> {
  const [, operation = '', json = ''] = /^([^=:]+:[^=]+)=(\{.*\})$/s.exec(text) ?? [];
  try {
    return { ...before, [operation]: JSON.parse(json) as Readonly<Record<string, unknown>> };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new InvalidArgumentError('Write the operation and a JSON object: \'notes.book:add={"text":"x"}\'.');
  }
}
