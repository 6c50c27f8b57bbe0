import { splitArguments } from './split-arguments.ts';

export type Filled = Readonly<{
  text: string;
  /** The body had a place for the arguments, so they need not be said again. */
  substituted: boolean;
}>;

/**
 * Fills a body's placeholders in one pass (I5): `$ARGUMENTS`, `$ARGUMENTS[N]`, `$N` and the names of the skill's path.
 * What is filled in is never looked at again, and nothing is executed. A place whose index is missing stays as written;
 * without `args` all places for them do.
 */
export function fillArguments(
  body: string,
  args: string | undefined,
  options: Readonly<{
    argumentHint?: string;
    /** The skill's folder, as its tools see it. */
    skillPath: string;
  }>,
): Filled {
  const words = args === undefined ? [] : splitArguments(args);
  const takesIndexes = options.argumentHint !== undefined || /(?<!\\)\$ARGUMENTS(?!\w)/.test(body);
  let substituted = false;
  const text = body.replace(
    placeholder,
    (written: string, escape: string, all?: string, index?: string, bare?: string) => {
      const isIndex = bare !== undefined;
      if (isIndex && !takesIndexes) return written;
      if (args === undefined && (isIndex || all !== undefined)) return written;
      if (escape !== '') return written.slice(1);
      if (all === undefined && !isIndex) return options.skillPath;
      const position = index ?? bare;
      const value = position === undefined ? args : words[Number(position)];
      if (value === undefined) return written;
      substituted = true;
      return value;
    },
  );
  return { text, substituted };
}

/** `$5,000` and `$1.50` are money, `$1st` and `$ARGUMENTS_X` other words. */
const placeholder =
  /(\\?)(?:(\$ARGUMENTS)(?!\w)(?:\[(\d{1,9})\])?|\$(\d{1,9})(?![\w]|[.,]\d)|\{baseDir\}|\$\{CLAUDE_SKILL_DIR\}|<skill_dir>)/g;
