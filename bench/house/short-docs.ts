import ts from 'typescript';
import { wordCount, type SourceFile } from './source.ts';

/** A doc comment that is too short to be a sentence, with the file and line where it begins. */
export type ShortDoc = Readonly<{ where: string; words: string }>;

/** One or more ids of the contract in brackets, as in `(M7, S2)`. */
const ids = /\([A-Z]+\d+[a-z]?(?:[,;] ?[A-Z]+\d+[a-z]?)*\)/g;

/**
 * Docs of five words or fewer on exported declarations and on members of exported types, parameters' types included.
 * Ids in brackets are no words: a stranger learns nothing from them.
 */
export function shortDocs({ path: file, text }: SourceFile): readonly ShortDoc[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const docs = new Set<ts.JSDoc>();
  const add = (node: ts.Node): void => {
    for (const doc of ts.getJSDocCommentsAndTags(node)) if (ts.isJSDoc(doc)) docs.add(doc);
    ts.forEachChild(node, (child) => {
      if (!ts.isBlock(child) && !ts.isExpression(child)) add(child);
    });
  };
  for (const statement of source.statements) {
    const modifiers = ts.canHaveModifiers(statement) ? ts.getModifiers(statement) : [];
    if (modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true) add(statement);
  }
  return [...docs]
    .map((doc) => ({
      where: `${file}:${source.getLineAndCharacterOfPosition(doc.getStart()).line + 1}`,
      words: doc
        .getText()
        .replace(/^\/\*\*|\*\/$|^ *\*(?!\/)/gm, '')
        .trim(),
    }))
    .filter(({ words }) => wordCount(words.replace(ids, '')) <= 5);
}
