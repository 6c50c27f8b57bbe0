/** Text of strangers on a terminal: whatever steers it, hides, or could pass for a line of its own is written out as `\u{…}`; tabs stay. One line. */
export function printable(text: string): string {
  return text.replace(steering, (character) =>
    character === '\t' ? character : `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

const steering =
  /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{Cn}\p{Variation_Selector}\u115f\u1160\u3164\uffa0]/gu;
