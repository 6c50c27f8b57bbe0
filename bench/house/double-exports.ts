import ts from 'typescript';
import type { SourceFile } from './source.ts';

/** Names that plugin authors import from `skillet/plugin`. The host's own types of tools have the same names. */
const publicNames: Readonly<Record<string, string>> = {
  Tool: 'src/features/plugins/define-tool.ts',
  ToolContext: 'src/features/plugins/tool-context.ts',
  defineTool: 'src/features/plugins/define-tool.ts',
};

/** Names that more than one file exports, each with its files. What a file passes on from another does not count. */
export function doubleExports(files: readonly SourceFile[]): readonly string[] {
  const filesOf = new Map<string, Set<string>>();
  for (const { path: file, text } of files)
    for (const name of exportedNames(file, text)) {
      if (publicNames[name] === file) continue;
      filesOf.set(name, (filesOf.get(name) ?? new Set()).add(file));
    }
  return [...filesOf]
    .filter(([, places]) => places.size > 1)
    .map(([name, places]) => `${name}: ${[...places].join(', ')}`)
    .sort();
}

function exportedNames(file: string, text: string): readonly string[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest);
  return source.statements.flatMap((statement) => {
    const modifiers = ts.canHaveModifiers(statement) ? ts.getModifiers(statement) : [];
    if (modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) !== true) return [];
    if (ts.isVariableStatement(statement)) {
      const names = statement.declarationList.declarations.map(({ name }) => name);
      return names.flatMap((name) => (ts.isIdentifier(name) ? name.text : []));
    }
    const { name } = statement as ts.DeclarationStatement;
    return name === undefined ? [] : name.text;
  });
}
