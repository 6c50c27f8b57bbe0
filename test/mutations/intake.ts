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
    [
      'a request of the future counts',
      'Math.abs(clock.now() - sentAt) > windowMs',
      'clock.now() - sentAt > windowMs',
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
    ],
    ['a press counts twice', 'if (seen.has(id)) return undefined;', ''],
    [
      'known facts hide an external event',
      'seen.external || facts.external',
      'facts.external',
      { test: 'channels/slack-chat-type.test.ts' },
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
    ['own messages come back', 'if (said.user === me.user) return true;', ''],
    [
      'a shared channel is not external',
      "external: place.external || sender.kind === 'guest'",
      "external: sender.kind === 'guest'",
    ],
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
