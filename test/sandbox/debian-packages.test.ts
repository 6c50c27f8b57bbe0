import assert from 'node:assert/strict';
import { test } from 'node:test';
import { installProgram, packageOf, pythonPackageOf } from '../../src/sandbox/packages/debian-packages.ts';
import { pythonPackagesIn } from '../../src/sandbox/packages/available-packages.ts';
import { makeRoot } from '../skills/make-root.ts';

test('R6 a package is named only where Debian has it, and never another program of the same name', () => {
  assert.deepEqual(['curl', 'rg', 'node', 'tesseract'].map(packageOf), [
    ...['curl', 'ripgrep', 'nodejs', 'tesseract-ocr'],
  ]);
  // In Debian 12 `bird` is a routing daemon and `memo` a notebook; the others are not there.
  for (const name of ['uv', 'gog', 'mcporter', 'wacli', 'summarize', 'bird', 'memo', 'constructor']) {
    assert.equal(packageOf(name), undefined, name);
    for (const where of ['host', 'root', 'image'] as const)
      assert.doesNotMatch(installProgram(name, where), /apt-get|packages: \[/, name);
  }
  assert.match(installProgram('uv', 'host'), /docs\.astral\.sh\/uv/);
});

test('R6 Python modules are known by the name of their import, of PyPI or of a part of them', () => {
  const packages: Readonly<Record<string, string | undefined>> = {
    openpyxl: 'python3-openpyxl',
    pypdf: 'python3-pypdf',
    PIL: 'python3-pil',
    Pillow: 'python3-pil',
    'yaml.nodes': 'python3-yaml',
    python_docx: 'python3-docx',
    'pdfminer.six': 'python3-pdfminer',
    pptx: undefined,
    nosuchmodule: undefined,
    constructor: undefined,
  };
  for (const [name, expected] of Object.entries(packages))
    assert.equal(pythonPackageOf(name), expected, name);
});

test('R6 what Python can import is known by what pip and dpkg leave, whatever the spelling', (t) => {
  const root = makeRoot(t, {
    'usr/lib/python3/dist-packages/PyYAML-6.0.dist-info/METADATA': '',
    'usr/lib/python3/dist-packages/python_docx-0.8.egg-info/PKG-INFO': '',
    'usr/local/lib/python3.11/dist-packages/openpyxl-3.1.2.dist-info/METADATA': '',
  });
  const has = pythonPackagesIn(root);
  assert.deepEqual(['pyyaml', 'python-docx', 'OpenPyXL', 'pypdf'].map(has), [true, true, true, false]);
  assert.equal(pythonPackagesIn(makeRoot(t))('pyyaml'), false);
});
