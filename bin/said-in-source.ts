import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

const src = path.join(import.meta.dirname, '..', 'src');

/** Every sentence that the source says by `say` or `fixed`, as translations are found: `Hello {0}.` */
export function saidInSource(): ReadonlySet<string> {
  const found = new Set<string>();
  eachNode((node) => {
    if (ts.isTaggedTemplateExpression(node) && isSaid(node.tag)) found.add(keyOf(node.template));
  });
  return found;
}

/** What the parts of messages, buttons and forms are called that people read. */
const readByPeople = new Set(['markdown', 'label', 'title', 'placeholder', 'caption', 'told', 'sentence']);
/** What `/why` says. */
const readByOwners = new Set(['reason', 'change']);

/** Words written into one of these without `say` or `fixed`: everybody would read them in English, as operators do. */
export function unsaidInSource(): readonly string[] {
  const found: string[] = [];
  eachNode((node, file) => {
    if (
      /^(?:cli|dashboard|operator)\//.test(file) ||
      !ts.isPropertyAssignment(node) ||
      !(
        readByPeople.has(node.name.getText()) ||
        (/^access\//.test(file) && readByOwners.has(node.name.getText()))
      )
    )
      return;
    for (const words of textsOf(node.initializer))
      if (/[a-z]{2,} [a-z]{2,}/i.test(words.replaceAll(/\$\{[^}]*\}/g, ''))) found.push(`${file}: ${words}`);
  });
  return found;
}

/** Of a value as it stands there, of either branch too; not what a function in it gives. */
function textsOf(value: ts.Expression): readonly string[] {
  if (ts.isConditionalExpression(value)) return [...textsOf(value.whenTrue), ...textsOf(value.whenFalse)];
  if (ts.isBinaryExpression(value)) return [...textsOf(value.left), ...textsOf(value.right)];
  if (ts.isArrowFunction(value) && !ts.isBlock(value.body)) return textsOf(value.body);
  return ts.isStringLiteralLike(value) || ts.isTemplateExpression(value) ? [value.getText()] : [];
}

function eachNode(look: (node: ts.Node, file: string) => void): void {
  for (const file of readdirSync(src, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ts')) continue;
    const text = readFileSync(path.join(src, file), 'utf8');
    const visit = (node: ts.Node): void => {
      look(node, file);
      ts.forEachChild(node, visit);
    };
    visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true));
  }
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
