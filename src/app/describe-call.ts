/** Characters that change how others look, or can't be seen: shown by their code point. */
const deceptive = /\p{Cc}|\p{Cf}|\p{Zl}|\p{Zp}|\p{Variation_Selector}|\u115f|\u1160|\u3164|\uffa0/gu;

/**
 * A tool call as a person judges it (T8): every field of its input whole, with control, bidirectional and invisible
 * characters written out, so that nothing looks like what it is not.
 */
export function describeCall(tool: string, input: unknown, skill: string | undefined): string {
  const who = skill === undefined ? 'The bot' : `The skill ${code(skill)}`;
  const fields =
    typeof input === 'object' && input !== null && !Array.isArray(input)
      ? Object.entries(input as Readonly<Record<string, unknown>>)
      : [['input', input] as const];
  return [
    `${who} wants to use ${code(tool)}:`,
    ...fields.map(([name, value]) => `${code(name)}\n\n${block(shown(value))}`),
  ].join('\n\n');
}

/** Text with what could deceive written as `\u{200b}`; line ends stay. */
export function withoutDeception(text: string): string {
  return text.replace(deceptive, (character) =>
    character === '\n' ? character : `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

function shown(value: unknown): string {
  return withoutDeception(typeof value === 'string' ? value : (JSON.stringify(value, null, 1) ?? ''));
}

/** A fence longer than any in the text, so that the text can't end it. */
function block(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}

function code(text: string): string {
  return `\`${withoutDeception(text).replaceAll('`', "'").replaceAll('\n', ' ')}\``;
}
