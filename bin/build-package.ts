/**
 * `npm pack` runs this before and after (L11). Node leaves the types in what lies below a `node_modules`, so a package brings
 * JavaScript: `dist/` holds `src/` and `providers/` without types, and the types of `skillet/plugin`. The lock file comes
 * along as `npm-shrinkwrap.json`, for `npm ci` in the unpacked package (S5). With `--clean` both are removed.
 */
import { cpSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

const root = path.join(import.meta.dirname, '..');
const dist = path.join(root, 'dist');
const shrinkwrap = path.join(root, 'npm-shrinkwrap.json');

for (const made of [dist, shrinkwrap]) rmSync(made, { recursive: true, force: true });
if (process.argv[2] !== '--clean') {
  for (const folder of ['src', 'providers']) copyOthers(folder);
  compile();
  describePlugins();
  // Without the space between its values it is a quarter smaller.
  const lock: unknown = JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8'));
  writeFileSync(shrinkwrap, JSON.stringify(lock));
}

/** Translations, pages and plain JavaScript; what else lies about is none of the package's. */
function copyOthers(folder: string): void {
  cpSync(path.join(root, folder), path.join(dist, folder), {
    recursive: true,
    filter: (file) => statSync(file).isDirectory() || /\.(?:js|json|css)$/.test(file),
  });
}

/** Types were checked before: each file is read by itself. Comments stay in the repository. */
function compile(): void {
  const files = ['src', 'providers'].flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => path.join(root, folder, file)),
  );
  emit(files, { noResolve: true, noLib: true, types: [], isolatedModules: true, removeComments: true });
}

function describePlugins(): void {
  emit([path.join(root, 'src/plugin.ts')], { declaration: true, emitDeclarationOnly: true, types: ['node'] });
}

function emit(files: readonly string[], options: ts.CompilerOptions): void {
  const program = ts.createProgram(files, {
    target: ts.ScriptTarget.ESNext,
    module: ts.ModuleKind.NodeNext,
    verbatimModuleSyntax: true,
    rewriteRelativeImportExtensions: true,
    skipLibCheck: true,
    noCheck: true,
    rootDir: root,
    outDir: dist,
    ...options,
  });
  const faults = [...program.getSyntacticDiagnostics(), ...program.emit().diagnostics];
  if (faults.length === 0) return;
  const host = { getCanonicalFileName: String, getCurrentDirectory: () => root, getNewLine: () => '\n' };
  throw new Error(ts.formatDiagnostics(faults, host));
}
