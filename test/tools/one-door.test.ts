import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import ts from 'typescript';

const root = path.join(import.meta.dirname, '..', '..');

test('T8 T5 no file but call-tool.ts can run a tool: nothing else of src reads the `run` of a Tool', () => {
  const options: ts.CompilerOptions = {
    target: ts.ScriptTarget.ESNext,
    module: ts.ModuleKind.ESNext,
    lib: ['lib.esnext.d.ts'],
    types: [],
    strict: true,
    noEmit: true,
  };
  const host = ts.createCompilerHost(options);
  // Of packages nothing is read: no tool is theirs, and their types take four seconds.
  host.resolveModuleNameLiterals = (names, from) =>
    names.map(({ text }) => ({
      resolvedModule: text.startsWith('.')
        ? { resolvedFileName: path.resolve(path.dirname(from), text), extension: '.ts' }
        : undefined,
    }));
  const files = ts.sys.readDirectory(path.join(root, 'src'), ['.ts']);
  const program = ts.createProgram(files, options, host);
  const checker = program.getTypeChecker();
  const home = program.getSourceFile(path.join(root, 'src/core/tool.ts'));
  const alias = home?.statements.find((one) => ts.isTypeAliasDeclaration(one) && one.name.text === 'Tool');
  const run = alias && checker.getPropertyOfType(checker.getTypeAtLocation(alias), 'run');
  const declared = run?.declarations?.[0];
  assert.ok(declared !== undefined);

  /** Whether a property is that of a Tool, however its type was made from that one. */
  const isToolRun = (symbol: ts.Symbol | undefined): boolean =>
    symbol?.declarations?.includes(declared) === true;
  const readers: string[] = [];
  const visit = (node: ts.Node, file: string): void => {
    const read =
      ts.isPropertyAccessExpression(node) && node.name.text === 'run'
        ? checker.getSymbolAtLocation(node.name)
        : ts.isElementAccessExpression(node) &&
            ts.isStringLiteral(node.argumentExpression) &&
            node.argumentExpression.text === 'run'
          ? checker.getPropertyOfType(checker.getTypeAtLocation(node.expression), 'run')
          : ts.isBindingElement(node) &&
              ts.isObjectBindingPattern(node.parent) &&
              (node.propertyName ?? node.name).getText() === 'run'
            ? checker.getPropertyOfType(checker.getTypeAtLocation(node.parent), 'run')
            : undefined;
    if (isToolRun(read)) readers.push(file);
    ts.forEachChild(node, (child) => visit(child, file));
  };
  for (const source of program.getSourceFiles())
    if (source.fileName.startsWith(path.join(root, 'src') + path.sep))
      if (/\brun\b/.test(source.text)) visit(source, path.relative(root, source.fileName));
  assert.deepEqual(readers, ['src/tools/call-tool.ts']);
});
