import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { createModels } from '../../src/agent/models/create-models.ts';
import { resolveModel, type ModelsSettings, type Model } from '../../src/core/model.ts';
import { modelAliases } from '../../src/config/model-aliases.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { startMessagesServer } from '../servers/messages/messages-server.ts';

const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
/** Pauses last no time; nothing is ever silent for two minutes. */
const clock: Clock = {
  now: () => 0,
  sleep: async (ms) => (ms < 120_000 ? undefined : new Promise(() => undefined)),
};
const models = (settings: ModelsSettings) => createModels(settings, { log, clock });
const hello = { system: [], tools: [], messages: [{ role: 'user' as const, content: 'Hello' }] };
const ask = (model: Model) => model.complete(hello, new AbortController().signal);

async function serve(t: TestContext, script: Parameters<typeof startMessagesServer>[0]['script']) {
  const server = await startMessagesServer({ script });
  t.after(() => server.close());
  return server;
}

test('M1 with no default and no key the offline model answers, under any name', async () => {
  const offline = models(modelAliases({ aliases: {} }, {}).models);
  assert.equal(offline.offline, true);
  for (const name of [undefined, 'default', 'haiku', 'nobody']) {
    assert.equal((await ask(offline.get(name))).model, 'offline');
  }
});

test('M1 an alias at an endpoint of its own is used although there is no default', async (t) => {
  const server = await serve(t, () => 'from the local one');
  const { models: settings } = modelAliases(
    { aliases: { local: { model: 'qwen', baseUrl: server.url, apiKey: 'k' } } },
    {},
  );
  assert.equal((await ask(models(settings).get('local'))).model, 'qwen');
});

test('U2 PROVIDER/MODEL of other programs is the alias with that model, and anything else is told', () => {
  const { models: settings } = modelAliases(
    {
      aliases: {
        default: { model: 'claude-opus-5-5', apiKey: 'k' },
        small: { model: 'claude-haiku-5-5', apiKey: 'k' },
        router: { model: 'qwen/qwen3-max', baseUrl: 'http://127.0.0.1:1', apiKey: 'k' },
      },
    },
    {},
  );
  const all = models(settings);
  assert.equal(resolveModel(settings, 'anthropic/claude-haiku-5-5')?.model, 'claude-haiku-5-5');
  assert.equal(resolveModel(settings, 'qwen/qwen3-max')?.baseUrl, 'http://127.0.0.1:1');
  for (const name of [
    'anthropic/claude-haiku-5-5',
    'openrouter/qwen/qwen3-max',
    'qwen/qwen3-max',
    'small/other',
  ])
    assert.equal(all.check(name), undefined, name);
  for (const name of ['openai/gpt-5', 'anthropic/', '/claude-haiku-5-5x', 'a/b/c'])
    assert.match(all.check(name)?.message ?? '', /or has that model: the default model is used/, name);
});

test('U2 an alias, default, and ALIAS/model-id at that alias’s endpoint are asked where they belong', async (t) => {
  const server = await serve(t, () => 'hi');
  const { models: settings } = modelAliases(
    {
      aliases: {
        default: { model: 'claude-sonnet-5-5', baseUrl: server.url, apiKey: 'k1' },
        cheap: { model: 'small' },
      },
    },
    {},
  );
  const { get, check } = models(settings);
  for (const name of [undefined, 'default', 'cheap', 'haiku', 'cheap/other/model', 'nobody'])
    await ask(get(name));
  assert.deepEqual(
    server.requests.map(({ body }) => body.model),
    [
      'claude-sonnet-5-5',
      'claude-sonnet-5-5',
      'small',
      'claude-haiku-5-5',
      'other/model',
      'claude-sonnet-5-5',
    ],
  );
  assert.equal(check('cheap'), undefined);
  assert.equal(check('cheap/x'), undefined);
  assert.match(check('nobody')?.message ?? '', /"nobody": the default model is used/);
  assert.equal(get('nobody').alias, 'default');
  assert.equal(get(), get('default'));
});

test('M16 a Claude model has the settings for a chat unless the config has its own', async (t) => {
  const server = await serve(t, () => 'Hi.');
  const settingsOf = async (alias: Omit<ModelsSettings['aliases'][string], 'baseUrl'>) => {
    const made = models({ aliases: { default: { baseUrl: server.url, apiKey: 'k', ...alias } } });
    await ask(made.get());
    const { thinking, output_config: output } = server.requests.at(-1)?.body ?? assert.fail();
    return [thinking?.type, output?.effort];
  };
  for (const [alias, expected] of [
    [{ model: 'claude-sonnet-5-5' }, ['between_tools', 'medium']],
    [{ model: 'claude-haiku-5-5' }, [undefined, 'medium']],
    [{ model: 'claude-opus-5-5' }, [undefined, 'medium']],
    [{ model: 'claude-sonnet-5-5', thinking: 'adaptive' }, ['adaptive', 'medium']],
    [{ model: 'claude-sonnet-5-5', effort: 'low' }, ['between_tools', 'low']],
    [{ model: 'claude-sonnet-5-5', effort: 'max' }, [undefined, 'max']],
    [{ model: 'claude-sonnet-4-5' }, [undefined, undefined]],
    [{ model: 'claude-fable-5-2' }, [undefined, undefined]],
    [{ model: 'qwen3:8b' }, [undefined, undefined]],
  ] as const)
    assert.deepEqual(await settingsOf(alias), expected, JSON.stringify(alias));
});
