import path from 'node:path';
import ts from 'typescript';
import { code, root, table } from './markdown.ts';

/** The members of the type `AuditEvent`, which have no other list. */
export function auditEvents(): string {
  const file = path.join(root, 'src/audit/audit-event.ts');
  const { config } = ts.readConfigFile(path.join(root, 'tsconfig.json'), (name) => ts.sys.readFile(name)) as {
    config: unknown;
  };
  const program = ts.createProgram([file], ts.parseJsonConfigFileContent(config, ts.sys, root).options);
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(file);
  const alias = source?.statements
    .filter(ts.isTypeAliasDeclaration)
    .find(({ name }) => name.text === 'AuditEvent');
  if (alias === undefined) throw new Error(`${file} has no type AuditEvent`);
  const type = checker.getTypeAtLocation(alias);
  const rows = (type.isUnion() ? type.types : [type]).flatMap((member) => {
    const fields = checker.getPropertiesOfType(member).filter(({ name }) => name !== 'event');
    const event = checker.getPropertyOfType(member, 'event');
    const names = event === undefined ? [] : literals(checker.getTypeOfSymbol(event));
    return names.map((name) => [code(name), fields.map((field) => fieldText(field, checker)).join(', ')]);
  });
  return table(['event', 'what it holds'], rows);
}

function fieldText(field: ts.Symbol, checker: ts.TypeChecker): string {
  const values = literals(checker.getTypeOfSymbol(field));
  return values.length > 1 ? `${code(field.name)} (${values.map(code).join(', ')})` : code(field.name);
}

function literals(type: ts.Type): readonly string[] {
  return (type.isUnion() ? type.types : [type]).flatMap((one) => (one.isStringLiteral() ? [one.value] : []));
}
