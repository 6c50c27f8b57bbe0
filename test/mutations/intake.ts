import { changesOf } from './changes-of.ts';

/** Who gets in, and how platforms' requests are judged (A9, A10, Q1, H8). */
export const intakeMutations = [
  ...changesOf('channels/telegram/receive-webhook.ts', 'channels/telegram-webhook.test.ts', [
    [
      'a webhook takes any secret',
      "!sameSecret(request.headers['x-telegram-bot-api-secret-token'], secret)",
      'false',
    ],
    [
      'no secret is the secret',
      "if (typeof given !== 'string') return false;",
      "if (typeof given !== 'string') return true;",
    ],
    ['a body of any size is read', 'if (size > largestBody) return undefined;', ''],
    ['any path is the webhook', 'asked?.pathname !== path', 'false'],
    ['an update is taken before it is stored', 'await updates.take(update);', 'void updates.take(update);'],
  ]),
  ...changesOf('channels/slack/create-http-receiver.ts', 'channels/slack-http.test.ts', [
    ['a request dated ahead counts', 'sentAt - clock.now() > windowMs', 'false'],
    [
      'a request of anybody counts',
      'signingSecret: options.signingSecret,',
      'signingSecret: options.signingSecret, signatureVerification: false,',
    ],
    [
      'what was not stored is acknowledged',
      'response.writeHead(500).end();',
      'response.writeHead(200).end();',
    ],
  ]),
  ...changesOf('channels/slack/create-intake.ts', 'channels/slack-slash.test.ts', [
    [
      'a press, slash or form that failed is never tried again',
      '      seen.delete(id);\n      throw error;',
      '      throw error;',
      { test: 'channels/slack-intake.test.ts' },
    ],
    ['a press counts twice', 'if (seen.has(id)) return undefined;', ''],
    [
      'known facts hide an external event',
      'seen.external || facts.external',
      'facts.external',
      { test: 'channels/slack-intake.test.ts' },
    ],
  ]),
  ...changesOf('channels/slack/to-message.ts', 'channels/slack-messages.test.ts', [
    [
      'a sender of no team in a shared channel is a person',
      "if (!team) return external ? 'guest' : 'person';",
      "if (!team) return 'person';",
    ],
    [
      'a sender of another team is a person',
      "return team === me.team ? 'person' : 'guest';",
      "return 'person';",
    ],
    [
      'a bot on Slack is a person',
      "kind: isBot ? 'bot' : senderKind(team, external, me),",
      'kind: senderKind(team, external, me),',
    ],
    [
      'own messages come back',
      'if (said.user === me.user) return true;',
      '',
      { test: 'channels/slack-intake.test.ts' },
    ],
    [
      'own messages without a user come back',
      'if (me.botId !== undefined && said.bot_id === me.botId) return true;',
      '',
      { test: 'channels/slack-intake.test.ts' },
    ],
    [
      'a shared channel is not external',
      "external: place.external || sender.kind === 'guest'",
      "external: sender.kind === 'guest'",
    ],
  ]),
  ...changesOf('app/door/admit.ts', 'app/admit.test.ts', [
    ['a pasted code goes on', 'if (await signIns.takes(event.message)) return;', ''],
    ['a code that comes by an edit goes on', 'if (await signIns.takes(edited)) return;', ''],
    [
      'a code in a quote is stored',
      'const message = await signIns.clean(event.message);',
      'const { message } = event;',
    ],
    ['a code in the quote of an edit is stored', 'await signIns.clean(edited)', 'edited'],
  ]),
  ...changesOf('app/door/people.ts', 'app/pairing.test.ts', [
    [
      'a forgotten owner stays owner',
      'await stored.delete(pairedKey(sender)), await stored.delete(ownerKey(sender))',
      'await stored.delete(pairedKey(sender))',
    ],
    [
      'a forgotten person stays paired',
      'await stored.delete(pairedKey(sender)), await stored.delete(ownerKey(sender))',
      'await stored.delete(ownerKey(sender))',
    ],
  ]),
  ...changesOf('app/door/strangers.ts', 'app/pairing.test.ts', [
    ['a bot claims the bot', "chatType !== 'private' || sender.kind !== 'person'", "chatType !== 'private'"],
    [
      'a claim counts in a group',
      "chatType !== 'private' || sender.kind !== 'person'",
      "sender.kind !== 'person'",
    ],
  ]),
];
