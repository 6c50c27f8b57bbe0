import ts from 'typescript';

/** An object type that a function of `src` accepts as its options. */
export type Options = Readonly<{ members: number; where: string }>;

/** Options are an object type that is written in the head of the function, or has such a name. */
const optionTypes = /^(?:Readonly<)?\{|^\w*(?:Options|Needs|Deps|Parts|Basics|Context|Means)\b/;

/** All options types, the widest first. */
export function widestOptions(root: string, files: readonly string[]): readonly Options[] {
  const { config } = ts.readConfigFile(`${root}/tsconfig.json`, (file) => ts.sys.readFile(file)) as {
    config: unknown;
  };
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  const program = ts.createProgram(
    files.map((file) => `${root}/${file}`),
    options,
  );
  const checker = program.getTypeChecker();
  const found: Options[] = [];
  const visit = (node: ts.Node, file: string): void => {
    if (ts.isParameter(node) && node.type !== undefined && isOptions(node)) {
      const members = checker
        .getTypeAtLocation(node)
        .getProperties()
        .filter((member) => isOurs(member, root)).length;
      found.push({ members, where: `${file}, ${nameOf(node.parent)}` });
    }
    ts.forEachChild(node, (child) => visit(child, file));
  };
  for (const file of files) {
    const source = program.getSourceFile(`${root}/${file}`);
    if (source !== undefined) visit(source, file);
  }
  return found.sort((a, b) => b.members - a.members);
}

/** A member that libraries declare is none that somebody here wrote. */
function isOurs({ declarations = [] }: ts.Symbol, root: string): boolean {
  return declarations.some((one) => one.getSourceFile().fileName.startsWith(`${root}/src/`));
}

function isOptions({ type, parent }: ts.ParameterDeclaration): boolean {
  const isFunction = ts.isFunctionDeclaration(parent) || ts.isArrowFunction(parent);
  return isFunction && type !== undefined && optionTypes.test(type.getText());
}

function nameOf(fn: ts.SignatureDeclaration): string {
  return fn.name?.getText() ?? 'a function';
}
