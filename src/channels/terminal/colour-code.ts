/** Words that mean much in most languages. */
const keywords =
  'and|async|await|break|case|catch|class|const|continue|def|do|done|elif|else|enum|esac|except|export|extends|false|fi|finally|fn|for|from|func|function|if|impl|import|in|interface|lambda|let|match|new|nil|none|not|null|or|package|pass|private|public|raise|return|self|static|struct|switch|then|this|throw|true|try|type|undefined|use|var|void|while|with|yield';

const slashes = String.raw`\/\/.*`;
const dashes = String.raw`(?<=^|\s)--.*`;
const hash = String.raw`(?<=^|\s)#.*`;
const comments = new Map([
  ...['sql', 'lua', 'haskell'].map((name) => [name, dashes] as const),
  ...'c cpp cs go java javascript js jsx json kotlin php rust scala swift ts tsx typescript'
    .split(' ')
    .map((name) => [name, slashes] as const),
]);

type Colours = Readonly<Record<'comment' | 'text' | 'number' | 'word', (inner: string) => string>>;

/** Colours comments, texts, numbers and keywords in a line of code. It goes by their look, not by a grammar. */
export function colourCode(line: string, language: string, colours: Colours): string {
  const comment = comments.get(language.toLowerCase()) ?? hash;
  const parts = new RegExp(
    String.raw`(?<comment>${comment})|(?<text>"[^"]*"|'[^']*'|\x60[^\x60]*\x60)|(?<number>\b\d[\d_.]*\b)|(?<word>\b(?:${keywords})\b)`,
    'g',
  );
  return line.replace(parts, (part, ...rest) => {
    const groups = rest.at(-1) as Readonly<Record<keyof Colours, string | undefined>>;
    const kind = (Object.keys(colours) as (keyof Colours)[]).find((each) => groups[each] !== undefined);
    return kind === undefined ? part : colours[kind](part);
  });
}
