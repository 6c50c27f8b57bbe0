import { changesOf } from './changes-of.ts';

/** Systems behind accounts (C2–C8). */
export const capabilityMutations = [
  ...changesOf('features/capabilities/call-bridge.ts', 'features/capabilities/call-bridge.test.ts', [
    ['any number of values is read', 'if (createCountValues()(text) > valuesLimit)', 'if (false)'],
  ]),
  ...changesOf('features/plugins/tool-answer.ts', 'features/plugins/define-tool.test.ts', [
    ['any number of values is copied', 'if (values > mostValues)', 'if (false)'],
    ['text of any length is copied', 'if (characters > mostCharacters)', 'if (false)'],
  ]),
  ...changesOf(
    'features/capabilities/capability-checks.ts',
    'features/capabilities/invoke-capability.test.ts',
    [
      ['a chat acts as a person', 'if (!isPerson(requester))', 'if (false)'],
      ['what is not declared is used', 'if (!declared.includes(capability))', 'if (false)'],
      ['a sensitive capability works anywhere', "sensitive ? ['private'] : undefined", 'undefined'],
      ['a sensitive capability works where others read along', '!(sensitive && external) &&', ''],
      ['a capability works in a chat of unknown kind', "chatType !== 'unknown' &&", ''],
      [
        'the capability’s own list of chats is passed over',
        'listed.length > 0 ? listed : byDefault',
        'byDefault',
      ],
      [
        'input is not checked',
        'const problem = operation.checkInput(input);',
        'const problem = undefined as string | undefined;',
      ],
      ['an account of nobody is used', 'if (refs.includes(named)) return', 'return'],
      ['the first of several accounts is used', 'if (others.length > 0)', 'if (false)'],
      ['an operation needs no account', 'if (!operation.requires_auth) return', 'if (true) return'],
    ],
  ),
  ...changesOf(
    'features/capabilities/invoke-capability.ts',
    'features/capabilities/invoke-capability.test.ts',
    [
      [
        'what was agreed to is not compared',
        'canonicalJson(agreed ?? null) !== canonicalJson(shownCall(request, account))',
        'false',
      ],
      [
        'a mutation is made twice',
        'if (stored !== undefined) return { ok: true, value: { ...stored, replayed: true } };',
        '',
      ],
      [
        'the key leaves the account out',
        'capability, operation, account, input]',
        'capability, operation, input]',
      ],
      [
        'the key leaves the input out',
        'capability, operation, account, input]',
        'capability, operation, account]',
      ],
      ['the key leaves the person out', 'run, requester.sender, capability', 'run, capability'],
      ['an outcome is told before it is stored', 'await records.keepOutcome({', 'void records.keepOutcome({'],
      [
        'credentials in an output pass',
        'const credential = findCredential(output);',
        'const credential = undefined as string | undefined;',
      ],
      [
        'output is not checked',
        'const problem = operation.checkOutput(output);',
        'const problem = undefined as string | undefined;',
      ],
      ['the place is not judged', 'return elsewhere ?? { ok: true', 'return { ok: true'],
    ],
  ),
  ...changesOf('features/capabilities/signed-call.ts', 'features/capabilities/identity-token.test.ts', [
    ['a token lives for an hour', 'const lifeSeconds = 60;', 'const lifeSeconds = 3600;'],
    ['tokens share an id', '.setJti(randomUUID())', ".setJti('one')"],
    ['a token is for everybody', '.setAudience(namespace)', ".setAudience('all')"],
    ['a token names nobody', '.setSubject(user)', ".setSubject('')"],
    ['a token is bound to no input', 'input_hash: inputHash', "input_hash: ''"],
  ]),
];
