import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';

/** A new folder that goes away after the test, with files by their paths in it. */
export function makeRoot(t: TestContext, files: Readonly<Record<string, string | Uint8Array>> = {}): string {
  const root = mkdtempSync(join(tmpdir(), 'skillet-skills-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  for (const [path, content] of Object.entries(files)) put(root, path, content);
  return root;
}

export function put(root: string, path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
}

/** A SKILL.md with these lines of front matter. */
export function skillText(front: string, body = 'Do it.'): string {
  return `---\n${front}\n---\n\n${body}\n`;
}

export const silent = { debug() {}, info() {}, warn() {}, error() {} };
