import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import ts from 'typescript';
import { parseAllDocuments } from 'yaml';
import { parseConfig } from '../src/config/parse-config.ts';
import { stopMarginMs } from '../src/lib/async/shutdown.ts';
import { root } from './support/documents.ts';

const folder = path.join(root, 'examples/deploy/kubernetes');
const manifest = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
  version: string;
  repository: { url: string };
};

type Labels = Readonly<Record<string, string>>;
type Resource = Readonly<{ apiVersion: string; kind: string; metadata: { name: string; labels: Labels } }>;
type Probe = Readonly<{ httpGet: { path: string; port: string } }>;
type Bot = Readonly<{
  image: string;
  env: readonly { name: string; value: string }[];
  envFrom: readonly { secretRef: { name: string } }[];
  ports: readonly { name: string; containerPort: number }[];
  livenessProbe: Probe;
  readinessProbe: Probe;
  volumeMounts: readonly { name: string; mountPath: string }[];
  securityContext: object;
}>;
type StatefulSet = Readonly<{
  spec: {
    serviceName: string;
    template: {
      metadata: { labels: Labels };
      spec: {
        terminationGracePeriodSeconds: number;
        securityContext: Readonly<{ runAsNonRoot: boolean; runAsUser: number }>;
        containers: readonly [Bot];
        volumes: readonly { name: string }[];
      };
    };
    volumeClaimTemplates: readonly { metadata: { name: string } }[];
  };
}>;

const resources = readdirSync(folder).flatMap((name) =>
  parseAllDocuments(readFileSync(path.join(folder, name), 'utf8')).map((document) => {
    assert.deepEqual(document.errors, [], name);
    return document.toJS() as Resource;
  }),
);

function only<Kind>(kind: string): Kind {
  const [found, ...more] = resources.filter((one) => one.kind === kind);
  assert.ok(found !== undefined && more.length === 0, kind);
  return found as Kind;
}

const bot = only<StatefulSet>('StatefulSet').spec.template.spec.containers[0];

/** Where kubernetes-models has a kind. */
function moduleOf({ apiVersion, kind }: Resource): string {
  return `kubernetes-models/${apiVersion}/${kind}`;
}

/** Problems by the schemas of Kubernetes. */
async function schemaProblems(resource: Resource): Promise<string | undefined> {
  type Model = new (data: object) => { validate(): void };
  const { [resource.kind]: Model } = (await import(moduleOf(resource))) as Record<string, Model>;
  assert.ok(Model, resource.kind);
  const { apiVersion: _version, kind: _kind, ...data } = resource;
  try {
    new Model(data).validate();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Keys that Kubernetes does not know, which its schemas let pass: TypeScript finds them by the types of the same package. */
function unknownKeys(all: readonly Resource[]): readonly string[] {
  const file = path.join(root, 'test/manifests-of-kubernetes.ts');
  const text = all
    .map(
      (one, at) =>
        `import type { I${one.kind} as T${at} } from '${moduleOf(one)}';\nexport const r${at}: T${at} = ${JSON.stringify(one)};\n`,
    )
    .join('');
  const options: ts.CompilerOptions = {
    ...{ strict: true, noEmit: true, skipLibCheck: true, types: [] },
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ESNext,
  };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists } = host;
  host.fileExists = (name) => name === file || fileExists(name);
  host.getSourceFile = (name, language, ...more) =>
    name === file ? ts.createSourceFile(name, text, language) : getSourceFile(name, language, ...more);
  const program = ts.createProgram([file], options, host);
  return program
    .getSemanticDiagnostics(program.getSourceFile(file))
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '));
}

test('L11 the manifests of Kubernetes pass its schemas, and have no key that it does not know', async () => {
  for (const resource of resources) assert.equal(await schemaProblems(resource), undefined, resource.kind);
  assert.deepEqual(unknownKeys(resources), []);
  const set = only<StatefulSet & Resource>('StatefulSet');
  const wrong = { ...set, spec: { ...set.spec, replicas: 'one' } };
  assert.match((await schemaProblems(wrong)) ?? '', /replicas must be integer/);
  const misspelt = { ...set, spec: { ...set.spec, replcas: 1 } };
  assert.match(unknownKeys([misspelt]).join(), /replcas/);
});

test('L7 L11 the manifests fit each other, the image and the configuration among them', () => {
  const set = only<StatefulSet>('StatefulSet').spec;
  const { template } = set;
  const { name, labels } = only<Resource>('ServiceAccount').metadata;
  const service = only<{ spec: { selector: Labels } } & Resource>('Service');
  assert.deepEqual([service.metadata.name, service.spec.selector], [set.serviceName, labels]);
  assert.deepEqual(template.metadata.labels, labels);
  for (const resource of resources) assert.equal(resource.metadata.name, name);
  const { securityContext, containers, volumes, terminationGracePeriodSeconds: patience } = template.spec;
  assert.deepEqual([securityContext.runAsNonRoot, securityContext.runAsUser], [true, 1000]);
  assert.deepEqual(bot.securityContext, {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  });
  assert.equal(containers.length, 1);
  const claimed = set.volumeClaimTemplates.map(({ metadata }) => metadata.name);
  assert.deepEqual(
    bot.volumeMounts.map((mount) => mount.name).sort(),
    [...volumes.map((volume) => volume.name), ...claimed].sort(),
  );
  const [, owner = ''] = /github\.com\/([^/]+)\//.exec(manifest.repository.url) ?? [];
  assert.equal(bot.image, `ghcr.io/${owner}/skillet:${manifest.version}`);

  const toml = only<{ data: Readonly<Record<string, string>> }>('ConfigMap').data['config.toml'] ?? '';
  const env = Object.fromEntries(bot.env.map((one) => [one.name, one.value]));
  const parsed = parseConfig(toml, {
    file: '/etc/skillet/config.toml',
    env: {
      ...env,
      ...{ SKILLET_DATA_DIR: '/var/lib/skillet/data', ANTHROPIC_API_KEY: 'a-key-0123456789' },
      ...{ SLACK_BOT_TOKEN: 'xoxb-0123456789', SLACK_APP_TOKEN: 'xapp-0123456789' },
    },
  });
  assert.ok(parsed.ok, JSON.stringify(parsed));
  const { dataDir, workspace, shutdownSeconds } = parsed.config.bot;
  for (const place of [dataDir, workspace])
    assert.ok(
      bot.volumeMounts.some(({ mountPath }) => place.startsWith(`${mountPath}/`)),
      place,
    );
  assert.ok(shutdownSeconds + stopMarginMs / 1_000 < patience);
  const [port] = bot.ports;
  assert.ok(parsed.config.server.listen?.endsWith(`:${port?.containerPort}`));
  assert.deepEqual(
    [bot.livenessProbe, bot.readinessProbe].map(({ httpGet }) => [httpGet.path, httpGet.port]),
    [
      ['/livez', port?.name],
      ['/readyz', port?.name],
    ],
  );
  const page = readFileSync(path.join(root, 'docs/how-to/deploy.md'), 'utf8');
  for (const { secretRef } of bot.envFrom)
    assert.ok(page.includes(`create secret generic ${secretRef.name} `), secretRef.name);
});
