import ts from 'typescript';
import type { SourceFile } from './source.ts';

/** A function, and how many lines it has from its first to its last. `name` is empty if it has none. */
type LongFunction = Readonly<{ lines: number; name: string; where: string }>;

/** All functions of a file that have more than `most` lines. */
export function longFunctions({ path: file, text }: SourceFile, most = 60): readonly LongFunction[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const lineOf = (at: number): number => source.getLineAndCharacterOfPosition(at).line;
  const found: LongFunction[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body !== undefined) {
      const lines = lineOf(node.end) - lineOf(node.getStart(source)) + 1;
      if (lines > most) found.push({ lines, name: node.name?.getText(source) ?? '', where: file });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}
