import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

const src = path.join(import.meta.dirname, '..', '..', 'src');

/** Every sentence that the source says by `say` or `fixed`, as translations are found: `Hello {0}.` */
export function saidInSource(): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (ts.isTaggedTemplateExpression(node) && isSaid(node.tag)) found.add(keyOf(node.template));
    ts.forEachChild(node, visit);
  };
  for (const file of readdirSync(src, { recursive: true, encoding: 'utf8' }))
    if (file.endsWith('.ts'))
      visit(
        ts.createSourceFile(file, readFileSync(path.join(src, file), 'utf8'), ts.ScriptTarget.Latest, true),
      );
  return found;
}

/** say`…`, fixed`…`, sayIn(language)`…` and any other call whose name begins with `say`. */
function isSaid(tag: ts.Expression): boolean {
  const name = ts.isCallExpression(tag) ? tag.expression : tag;
  return ts.isIdentifier(name) && /^(?:say(?:[A-Z]\w*)?|fixed)$/.test(name.text);
}

function keyOf(template: ts.TemplateLiteral): string {
  if (ts.isNoSubstitutionTemplateLiteral(template)) return template.text;
  return template.templateSpans.reduce(
    (sentence, { literal }, at) => `${sentence}{${at}}${literal.text}`,
    template.head.text,
  );
}
