import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

const root = path.join(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');

test('S1 L8 every test that docs/security.md names is there, and no row is without one', () => {
  const text = read('docs/security.md');
  const named = [...text.matchAll(/`((?:test|src)\/[^`]+)`/g)].map(([, file = '']) => file);
  assert.ok(named.length > 50);
  assert.deepEqual(
    named.filter((file) => !existsSync(path.join(root, file))),
    [],
  );
  const rows = text.split('\n').filter((line) => /^\| (?!---|who |attack |what )/.test(line));
  const trusted = rows.indexOf(rows.find((row) => row.startsWith("| the model's provider"))!);
  assert.deepEqual(
    rows.slice(trusted + 1).filter((row) => !/`test\//.test(row)),
    [],
  );
});

type Locked = Readonly<{ hasInstallScript?: boolean; dev?: boolean; optional?: boolean }>;

test('S5 no package that production needs runs a script when it is installed, and each is pinned', () => {
  const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, Locked> };
  const scripted = Object.entries(packages).filter(([, { hasInstallScript }]) => hasInstallScript === true);
  assert.ok(scripted.length > 0);
  const needed = scripted.filter(([, { dev, optional }]) => dev !== true && optional !== true);
  assert.deepEqual(needed, []);
  const { dependencies, devDependencies, optionalDependencies } = JSON.parse(read('package.json')) as Record<
    string,
    Record<string, string>
  >;
  const wanted = Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies });
  assert.deepEqual(
    wanted.filter(([, version]) => !/^\d+\.\d+\.\d+/.test(version)),
    [],
  );
});
