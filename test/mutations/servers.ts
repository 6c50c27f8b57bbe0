import { changesOf } from './changes-of.ts';

const attacks = 'attack/own-accounts.test.ts';
const uses = 'end-to-end/own-accounts.test.ts';
const asks = 'end-to-end/mcp-input.test.ts';

/** MCP servers: each person's own accounts (X8), and what servers ask of people (X9). */
export const serverMutations = [
  ...changesOf('features/mcp/accounts/sign-ins.ts', attacks, [
    [
      'an answer of another issuer is exchanged',
      "if (iss === null ? says : !isSame(iss, issuer)) return 'capability_auth_state_mismatch';",
      '',
    ],
    ['an answer needs no issuer', 'iss === null ? says : ', 'iss === null ? false : '],
    ['a page shows its code twice', "if (isShown === true) return { kind: 'used' };", ''],
  ]),
  ...changesOf('features/mcp/accounts/take-answer.ts', attacks, [
    ['a code that somebody else sends connects', 'if (signIn.sender !== sender.id) {', 'if (false) {'],
    [
      'an address that somebody else pastes connects',
      'if (signIn.sender !== message.sender.id) {',
      'if (false) {',
    ],
    [
      'a code in a group connects',
      "if (!isPrivate(message)) return { kind: 'public' };\n    if (!(await signIns.link(signIn)))",
      'if (!(await signIns.link(signIn)))',
    ],
    [
      'an address in a group connects',
      "if (!isPrivate(message)) return { kind: 'public' };\n    if (signIn.sender",
      'if (signIn.sender',
    ],
    ['a code can be guessed for ever', 'if (wrongProofs >= mostWrong)', 'if (false)'],
    [
      'a code that is there twice counts',
      'query.getAll(name).length === 1 ? query.get(name) : null',
      'query.get(name)',
    ],
  ]),
  ...changesOf('features/mcp/accounts/authority.ts', attacks, [
    [
      'a server without PKCE is signed in to',
      "if (metadata.code_challenge_methods_supported?.includes('S256') !== true)",
      'if (false)',
    ],
    [
      'another authorization server than before is used',
      'if (of.pinned !== undefined && !isSame(issuer, of.pinned))',
      'if (false)',
    ],
    ['metadata of another issuer is believed', 'if (!isSame(metadata.issuer, issuer))', 'if (false)'],
    [
      'an address without encryption is believed',
      "if (typeof endpoint === 'string' && !isSafe(new URL(endpoint)))",
      'if (false)',
    ],
    ['codes are sent without encryption', 'assertSecureTokenEndpoint(metadata.token_endpoint);', ''],
    [
      'a server may say that it is another resource',
      'if (!checkResourceAllowed({ requestedResource, configuredResource: described.resource }))',
      'if (false)',
    ],
  ]),
  ...changesOf('features/mcp/accounts/checked-fetch.ts', attacks, [
    [
      'metadata leads into private networks',
      'mayReach: isOwn ? () => true : wayOut.mayReach',
      'mayReach: () => true',
    ],
  ]),
  ...changesOf('features/mcp/accounts/fresh-token.ts', 'features/mcp/fresh-token.test.ts', [
    [
      'a token goes to another address than it was issued for',
      'found === undefined || found.account.url !== of.url',
      'found === undefined',
    ],
    ['an account that lapsed is used', "if (lapsed === true) return { kind: 'lapsed' };", ''],
    [
      'a refresh token is used twice',
      'if (renewing !== undefined && renewing > clock.now()) await clock.sleep(lookEveryMs);\n      else {',
      '{',
      { test: uses },
    ],
  ]),
  ...changesOf('features/mcp/accounts/person-tools.ts', uses, [
    [
      'what an account gave leaves unasked',
      'return { account, taint: account, because',
      'return { account, because',
    ],
    [
      'what an account gave does not go back unasked',
      'return { account, taint: account, because',
      'return { taint: account, because',
    ],
    [
      'a call that nobody approved uses an account that came meanwhile',
      'if (!(await judge.isAsAssessed(context)))',
      'if (false)',
      { test: 'features/mcp/person-tools.test.ts' },
    ],
  ]),
  ...changesOf('features/mcp/accounts/ask-to-sign-in.ts', uses, [
    [
      'a link is sent into the group',
      "if (chatType === 'private') return store.commit",
      'if (true) return store.commit',
    ],
    [
      'anybody signs in for everybody',
      "if (settings.auth === 'shared' && !(await isOwner(sender))) return { kind: 'owners only' };",
      '',
    ],
  ]),
  ...changesOf('features/mcp/accounts/end-lost-accounts.ts', uses, [
    [
      'who may not use a server any more keeps the account',
      'if (!(await serversOf(app, of, all)).includes(server)) return true;',
      '',
      { only: 'may not use the server any more' },
    ],
    [
      'who may not use the bot any more keeps the account',
      'return isDirectOnly && !(await users.mayAct(of)).allowed;',
      'return false;',
      { only: 'unpaired' },
    ],
  ]),
  ...changesOf('features/mcp/server-agreement.ts', 'features/mcp/mcp-definitions.test.ts', [
    [
      'a tool that changed stays on',
      'seen !== undefined && agreed?.hash === seen.hash',
      'seen !== undefined && agreed !== undefined',
    ],
    [
      'a yes counts for a definition that came meanwhile',
      'name === tool.name && tool.seen?.hash === hash',
      'name === tool.name',
      { test: 'features/mcp/mcp-servers.test.ts' },
    ],
  ]),
  ...changesOf('features/mcp/person-input.ts', asks, [
    [
      'somebody else answers a server',
      "if (request?.kind !== 'question' || request.requester !== person) return undefined;",
      "if (request?.kind !== 'question') return undefined;",
    ],
    ['a server is answered in another group', "if (chatType !== 'private' && !isHere) return false;", ''],
    ['a server asks for ever', 'const mostRounds = 5;', 'const mostRounds = 50;'],
    ['a server asks for many forms at once', 'forms.length > mostForms || ', ''],
  ]),
  ...changesOf('features/mcp/input-form.ts', 'attack/mcp-input.test.ts', [
    ['a server asks for a secret', 'if (isOfSecret(message, entries))', 'if (false)'],
    [
      'a name of a field asks for a secret',
      "key.replace(/([a-z0-9])([A-Z])/g, '$1 $2').replace(/[^\\p{L}\\p{N}]+/gu, ' '),",
      '',
    ],
    ['a form has fields without end', 'if (entries.length > mostFields)', 'if (false)'],
  ]),
];
