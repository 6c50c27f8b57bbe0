import assert from 'node:assert/strict';
import { test } from 'node:test';
import { containerArguments } from '../../src/sandbox/container/container-arguments.ts';
import { contractLimits } from '../support/sandbox-contract.ts';

/** What `docker run` and `podman run` both document, as far as it is of use here. */
const takeValue = [
  ...[
    'name',
    'label',
    'pull',
    'log-driver',
    'network',
    'hostname',
    'cap-drop',
    'security-opt',
    'user',
    'userns',
  ],
  ...[
    'pids-limit',
    'memory',
    'memory-swap',
    'ulimit',
    'shm-size',
    'tmpfs',
    'mount',
    'env',
    'workdir',
    'entrypoint',
  ],
];
const takeNone = ['rm', 'interactive', 'tty', 'read-only', 'no-healthcheck'];

const request = {
  argv: ['python3', '/skill/a b.py', '--rm', '$(id)'] as const,
  skillDirectory: '/data/skills/parcels, "old"',
  network: ['api.example'],
  scratch: '/data/runs/1',
  env: { TEST_API_KEY: 'canary-1', PATH: '/elsewhere', DOCKER_HOST: 'tcp://x', 'a;id': 'canary-2' },
};
const container = {
  name: 'skillet-1',
  image: 'sha256:1',
  until: 5,
  node: false,
  mounts: [],
  before: ['/run/skillet/bin/node', 'forward'],
  env: {},
  terminal: false,
};

test('T9 a container is run with options that both engines document, no network, no privileges and every limit', () => {
  const { options, rest } = read(container);
  const one = (name: string): string | undefined => options.find(([key]) => key === name)?.[1];
  const all = (name: string): string[] => options.flatMap(([key, value]) => (key === name ? [value] : []));
  assert.equal(one('network'), 'none');
  assert.equal(one('pull'), 'never');
  assert.equal(one('log-driver'), 'none');
  assert.equal(one('user'), '1001:1001');
  assert.deepEqual(all('cap-drop'), ['ALL']);
  assert.ok(all('security-opt').includes('no-new-privileges'));
  assert.equal(one('pids-limit'), '128');
  assert.deepEqual([one('memory'), one('memory-swap')], ['300m', '300m']);
  assert.deepEqual(all('ulimit'), ['nofile=1024:1024', 'core=0:0']);
  for (const flag of ['rm', 'read-only', 'interactive']) assert.equal(one(flag), '', flag);
  assert.equal(one('tty'), undefined);
  assert.deepEqual(all('mount'), [
    'type=bind,"source=/data/skills/parcels, ""old""",target=/skill,readonly',
    'type=bind,source=/data/runs/1,target=/scratch',
  ]);
  assert.deepEqual(rest.slice(0, 2), ['sha256:1', '-c']);
  assert.deepEqual(rest.slice(3), ['sh', 'python3', '/run/skillet/bin/node', 'forward', ...request.argv]);
});

test('S2 U3 what a skill declares is on no command line, steers no client, and leaves the own environment alone', () => {
  const { args, env, options, rest } = read(container);
  assert.doesNotMatch(args.join('\n'), /canary|elsewhere|tcp:/);
  assert.deepEqual(env, { SKILLET_ENV_0: 'canary-1', SKILLET_ENV_1: 'tcp://x' });
  const given = options.flatMap(([key, value]) => (key === 'env' ? [value] : []));
  assert.ok(given.includes('PATH=/run/skillet/bin:/usr/local/bin:/usr/bin:/bin'));
  assert.deepEqual(
    given.filter((each) => !each.includes('=')),
    ['SKILLET_ENV_0', 'SKILLET_ENV_1'],
  );
  assert.match(rest[2] ?? '', /export TEST_API_KEY="\$SKILLET_ENV_0"; unset SKILLET_ENV_0/);
  assert.doesNotMatch(rest[2] ?? '', /a;id/);
});

test('T9 an engine that limits nothing by itself is not asked to', () => {
  const { options } = read(container, { memory: false, pids: false });
  for (const flag of ['memory', 'memory-swap', 'pids-limit'])
    assert.equal(
      options.some(([key]) => key === flag),
      false,
    );
});

/** The command line as an engine would read it: an option that neither documents fails. */
function read(
  one: Parameters<typeof containerArguments>[3],
  limits = { memory: true, pids: true },
): ReturnType<typeof containerArguments> & { options: [string, string][]; rest: string[] } {
  const made = containerArguments(request, contractLimits, { own: ['--user', '1001:1001'], limits }, one);
  const [verb, ...words] = made.args;
  assert.equal(verb, 'run');
  const options: [string, string][] = [];
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    const name = word.startsWith('--') ? word.slice(2) : undefined;
    if (name === undefined) return { ...made, options, rest: [word, ...words] };
    assert.ok(takeValue.includes(name) || takeNone.includes(name), `--${name} is not documented`);
    options.push([name, takeNone.includes(name) ? '' : (words.shift() ?? '')]);
  }
  throw new Error('there is no image');
}
