import { bridgeResults, type CapabilityDefinition } from '../bridge-contract.ts';
import type { Probe } from './check-probe.ts';
import { describeHeard } from './check-probe.ts';
import { unlessError, unlessResult, verdict, type CheckResult, type Rule } from './check-result.ts';
import { jsonSchemaCheck } from '../../lib/json/json-schema-check.ts';

const answers: Rule = {
  what: 'definitions are answered with one JSON object, exit code 0',
  why: 'the bot offers what is defined here, and nothing of a provider that it can not understand',
  fix: 'write exactly {"version":1,"id":…,"result":{"definitions":[…]}} to standard output, words for people to standard error, and end with 0',
};
const ids: Rule = {
  what: 'every capability is called NAMESPACE.NAME, once',
  why: 'a provider speaks for its own namespace only',
  fix: 'name capabilities after the namespace that config gives the provider',
};
const schemas: Rule = {
  what: 'input and output schemas are JSON Schemas of objects that the bot can hold data to',
  why: 'what a model sends and what comes back is checked against them',
  fix: 'use type, properties, required, enum, items and the like; no not, if/then or external $ref',
};
const long: Rule = {
  what: 'a request of 300 kB is read to its end, and params it does not know are ignored',
  why: 'an input may be long, and later versions of the bot may say more',
  fix: 'read standard input until it ends, then parse it',
};
const version: Rule = {
  what: 'another version is refused by an error',
  why: 'a version that it does not know may mean something else by the same words',
  fix: 'answer a version other than 1 with the error capability_invalid_input, under the id of the request',
};
const method: Rule = {
  what: 'an unknown method is refused by an error',
  why: 'a fault would look as if the whole provider were down',
  fix: 'answer a method that it does not know with the error capability_invalid_input, and end with 0',
};
const broken = (what: string): Rule => ({
  what: `${what} ends the process without a result`,
  why: 'a request that was cut must not be taken for another one',
  fix: 'end with an exit code other than 0, and say why on standard error',
});

/** Holds a provider to the form of requests and answers (C1, C2). `definitions` is there where they could be read. */
export async function checkFraming(
  probe: Probe,
  report: (result: CheckResult) => void,
): Promise<readonly CapabilityDefinition[] | undefined> {
  const heard = await probe.definitions();
  const parsed = heard.kind === 'result' ? bridgeResults.definitions.safeParse(heard.result) : undefined;
  const [issue] = parsed?.error?.issues ?? [];
  const form = issue === undefined ? undefined : `${issue.path.map(String).join('.')}: ${issue.message}`;
  report(verdict(answers, unlessResult(heard) ?? form));
  if (parsed?.data === undefined) return undefined;
  const { definitions } = parsed.data;
  report(verdict(ids, wrongIds(definitions, probe.provider.namespace)));
  report(verdict(schemas, wrongSchemas(definitions)));
  report(verdict(long, unlessResult(await probe.definitions({ padding: 'x'.repeat(300_000) }))));
  report(verdict(version, unlessError(await probe.send(probe.request('definitions', {}, 2)))));
  report(verdict(method, unlessError(await probe.send(probe.request('forget_everything', {})))));
  for (const [what, text] of [
    ['half a request', probe.request('definitions', {}).slice(0, 40)],
    ['an empty request', ''],
  ] as const) {
    const ended = await probe.send(text);
    const hung = ended.kind === 'fault' && ended.found.startsWith('there was no answer in time');
    report(verdict(broken(what), ended.kind !== 'result' && !hung ? undefined : describeHeard(ended)));
  }
  return definitions;
}

function wrongIds(definitions: readonly CapabilityDefinition[], namespace: string): string | undefined {
  const all = definitions.map(({ id }) => id);
  const wrong = all.filter((id, index) => !id.startsWith(`${namespace}.`) || all.indexOf(id) !== index);
  return wrong.length === 0 ? undefined : wrong.join(', ');
}

function wrongSchemas(definitions: readonly CapabilityDefinition[]): string | undefined {
  const wrong = definitions.flatMap(({ id, operations }) =>
    Object.entries(operations).flatMap(([name, { input_schema, output_schema }]) =>
      [input_schema, output_schema].flatMap((schema, index) => {
        const problem = schemaProblem(schema);
        return problem === undefined ? [] : [`${id} ${name} ${index === 0 ? 'input' : 'output'}: ${problem}`];
      }),
    ),
  );
  return wrong.length === 0 ? undefined : wrong.slice(0, 5).join('; ');
}

/** What is wrong with a schema; nothing where data can be held to it. */
function schemaProblem(schema: Readonly<Record<string, unknown>>): string | undefined {
  if ('type' in schema && schema['type'] !== 'object') return 'its type is not object';
  try {
    jsonSchemaCheck(schema);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
