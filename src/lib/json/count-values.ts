/** Values of JSON that one message may hold: of an answer with more no model would see the end. */
export const valuesLimit = 100_000;
/** What is told of a server that sent one with more. */
export const tooManyValues = `it sent more than ${valuesLimit} values at once`;

/**
 * How many values there are in JSON that comes in pieces, cut anywhere: its commas and openings outside of texts. Reading a
 * value costs so much more than a character of a text that 10 MB of small ones keep everybody waiting for seconds.
 */
export function createCountValues(): (piece: string) => number {
  let inText = false;
  let escaped = false;
  return (piece) => {
    let values = 0;
    for (let at = 0; at < piece.length; at++) {
      const code = piece.charCodeAt(at);
      if (escaped) escaped = false;
      else if (inText) {
        if (code === backslash) escaped = true;
        // No text of JSON holds a line end: nobody hides values behind half a text.
        else if (code === quote || code === lineEnd) inText = false;
      } else if (code === quote) inText = true;
      else if (code === comma || code === brace || code === bracket) values += 1;
    }
    return values;
  };
}

const backslash = 0x5c;
const quote = 0x22;
const lineEnd = 0x0a;
const comma = 0x2c;
const brace = 0x7b;
const bracket = 0x5b;
