import assert from 'node:assert/strict';
import { test } from 'node:test';
import { steersPrograms } from '../../src/core/steers-programs.ts';
import { skillEnvironment } from '../../src/sandbox/script-command.ts';
import { makeSkill } from '../support/make-skill.ts';

const skill = makeSkill('mail', { env: ['MAIL_KEY', 'MAIL_HOST'] });

test('U3 a skill gets what it declares, and what the operator wrote for it though it declares nothing', () => {
  const values = { MAIL_KEY: 'k', MAIL_HOST: 'h', OTHER_KEY: 'o' };
  assert.deepEqual(skillEnvironment(skill, values), { env: values, missing: [], diagnostics: [] });
});

test('D9 a skill that waits for approval gets nothing, whatever the operator wrote for its name', () => {
  const waiting = makeSkill('mail', { env: ['MAIL_KEY'], access: { approved: false } });
  assert.deepEqual(skillEnvironment(waiting, { MAIL_KEY: 'k', OTHER_KEY: 'o' }).env, {});
});

test('U3 declared names without a value are named, an empty value counts as none', () => {
  assert.deepEqual(skillEnvironment(skill, { MAIL_HOST: '', OTHER: '' }).missing, [...skill.env, 'OTHER']);
  const odd = { ...skill, env: ['__proto__', 'constructor'] };
  assert.deepEqual(skillEnvironment(odd, {}).missing, odd.env);
});

test('U3 names that steer a loader or interpreter are refused with a diagnostic, whoever set them', () => {
  const steering = [
    ...['PATH', 'LD_PRELOAD', 'LD_LIBRARY_PATH', 'DYLD_INSERT_LIBRARIES', 'NODE_OPTIONS', 'NODE_PATH'],
    ...['PYTHONPATH', 'PYTHONSTARTUP', 'PYTHON_X', 'BASH_ENV', 'BASH_FUNC_X', 'ENV', 'IFS', 'SHELLOPTS'],
    ...['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY', 'http_proxy', 'PERL5OPT', 'RUBYOPT'],
    ...[
      'GIT_SSH_COMMAND',
      'GIT_CONFIG_COUNT',
      'GLIBC_TUNABLES',
      'JAVA_TOOL_OPTIONS',
      'HOME',
      'PS4',
      'UV_PYTHON',
    ],
    ...['MAVEN_OPTS', 'GRADLE_OPTS', 'DOTNET_STARTUP_HOOKS', 'GOFLAGS', 'RUSTC_WRAPPER', 'MAKEFLAGS'],
  ];
  for (const name of steering) {
    const given = skillEnvironment({ ...skill, env: ['MAIL_KEY', name] }, { MAIL_KEY: 'k', [name]: 'evil' });
    assert.deepEqual(given.env, { MAIL_KEY: 'k' });
    assert.equal(given.diagnostics[0]?.field, 'env');
    assert.match(given.diagnostics[0]?.message ?? '', new RegExp(name));
  }
  for (const name of ['TEST_API_KEY', 'GITHUB_TOKEN', 'NODE_AUTH_TOKEN', 'WILD_PATH', 'PROXY_KEY']) {
    assert.equal(steersPrograms(name), false, name);
  }
});
