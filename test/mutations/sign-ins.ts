import { changesOf } from './changes-of.ts';

const flows = 'features/capabilities/auth-flows.test.ts';

/** How accounts are linked (C6). */
export const signInMutations = [
  ...changesOf('features/capabilities/auth-flows.ts', flows, [
    ['a sign-in begins in a group', "if (requester.chatType !== 'private')", 'if (false)'],
    ['a page without encryption is offered', "if (url.protocol !== 'https:' && !isHere)", 'if (false)'],
    ['a sign-in has no state', "if (state === null || state === '')", 'if (false)'],
    [
      'a sign-in has no PKCE',
      "(given.get('code_challenge') ?? '') !== '' && given.get('code_challenge_method') === 'S256'",
      'true',
    ],
    [
      'another state is expected than is sent',
      'begun.expected_callback_state !== undefined && begun.expected_callback_state !== state',
      'false',
    ],
    ['a sign-in outlives what its provider allows', 'Math.min(now + flowMs, ends)', 'now + flowMs'],
    [
      'a sign-in has no end',
      'const isOver = ({ expiresAt }: KeptFlow): boolean => expiresAt <= clock.now();',
      'const isOver = (_: KeptFlow): boolean => false;',
    ],
    [
      'a skill sees sign-ins that it does not declare',
      "state !== 'ended' && caller.declared.includes(capability)",
      "state !== 'ended'",
    ],
    ['a provider is polled too early', '(flow.dueAt ?? 0) <= clock.now()', 'true'],
  ]),
  ...changesOf('features/capabilities/advance-flow.ts', flows, [
    ['a sign-in that is over is completed', 'if (flow.expiresAt <= now)', 'if (false)'],
    [
      'a linked account may hold a credential',
      'const outcome = checkLinked(await askProvider(flow, { providers, calls, signal }));',
      'const outcome = await askProvider(flow, { providers, calls, signal });',
    ],
    [
      'an identity is not shown',
      "    if (await change(flow, linked, { state: 'linked', dueAt: now })) {",
      "    if (!(await change(flow, linked, { state: 'linked', dueAt: now }))) {",
    ],
    [
      'a code that was used is kept',
      'const linked: FlowContent = { ...unanswered, account: value };',
      'const linked: FlowContent = { ...content, account: value };',
    ],
    ['a failure that passes ends a sign-in', 'const over = final.has(outcome.code);', 'const over = true;'],
    [
      'a failure that is final leaves a sign-in open',
      'const over = final.has(outcome.code);',
      'const over = false;',
    ],
  ]),
  ...changesOf('features/capabilities/confirm-accounts.ts', flows, [
    [
      'an identity is confirmed by anybody',
      "if (kept.sender !== sender) return { outcome: 'not yours' };",
      '',
    ],
    [
      'an identity is confirmed anywhere',
      'kept?.conversation !== conversationKey(conversation)',
      'kept === undefined',
    ],
    ['an identity is confirmed too late', 'flow.expiresAt <= clock.now()', 'false'],
    ['no is yes to an identity', 'const done = yes\n', 'const done = true\n'],
  ]),
  ...changesOf('features/capabilities/take-auth-answer.ts', flows, [
    ['a code counts in a group', 'if (isPublic) return', 'if (false) return'],
    [
      'a code counts where outsiders read along',
      "chatType !== 'private' || external",
      "chatType !== 'private'",
    ],
    [
      'a sign-in takes two codes',
      "if (!(await records.change(flow.id, 'pending', { state: 'submitted', sealed, dueAt: clock.now() })))",
      "if ((await records.change(flow.id, 'pending', { state: 'submitted', sealed, dueAt: clock.now() }), false))",
    ],
    [
      'an address without a state counts',
      "if (state !== null || (carriesState && answer.kind === 'code')) return 'capability_auth_state_mismatch';",
      '',
    ],
    [
      'a code counts though a sign-in is over',
      "flow.state === 'pending' && flow.expiresAt > now",
      "flow.state === 'pending'",
    ],
    [
      'a bare code is for the first of several sign-ins',
      "others.length > 0 ? 'capability_auth_flow_ambiguous' : only",
      'only',
    ],
    [
      'the address of somebody else’s sign-in goes on',
      "if (!(await isSomebodys(answer))) return { kind: 'none' };",
      "return { kind: 'none' };",
    ],
  ]),
  ...changesOf('accounts/read-auth-answer.ts', flows, [
    [
      'any state is the right one',
      'return one.length === other.length && timingSafeEqual(one, other);',
      'return one.length === other.length;',
    ],
  ]),
  ...changesOf('accounts/read-auth-answer.ts', 'accounts/read-auth-answer.test.ts', [
    [
      'an address with two codes counts',
      '.some((name) => given.getAll(name).length > 1)',
      '.some(() => false)',
    ],
    ['a refusal with a code is a code', "if (given.has('error')) return { kind: 'refused', state };", ''],
    [
      'words may say another code',
      "if (words.some((word) => word !== code)) return unusable('capability_auth_code_conflict');",
      '',
    ],
    ['any word is a code', 'word.length >= 8 && /\\d/.test(word)', 'word.length >= 8'],
    [
      'a code of control characters counts',
      'if (!/^[\\x21-\\x7e]{1,2048}$/.test(code)) return',
      'if (false) return',
    ],
  ]),
  ...changesOf('accounts/guard-sign-ins.ts', 'accounts/guard-sign-ins.test.ts', [
    ['a code in a reply stays', 'replyTo: replyTo && (await cleanQuote(message, replyTo))', 'replyTo'],
    [
      'a code that is passed on stays',
      'await Promise.all(shared.map((quote) => cleanQuote(message, quote)))',
      'shared',
      { test: 'conversations/admit.test.ts' },
    ],
    ['a code in a quote is used', "{ ...message, ...said, chatType: 'unknown' }", '{ ...message, ...said }'],
    ['a quote is taken for its reader’s', 'id: quote.sender ?? sender.id', 'id: sender.id'],
  ]),
];
