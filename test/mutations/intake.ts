import { changesOf } from './changes-of.ts';

/** Who gets in, and how platforms' requests are judged (A9, A10, Q1, H8). */
export const intakeMutations = [
  ...changesOf('channels/telegram/receive-webhook.ts', 'channels/telegram-webhook.test.ts', [
    ['a webhook takes any secret', 'secretToken: secret, ', ''],
    ['a body of any size is read', 'if (size > largestBody) return undefined;', ''],
    ['any path is the webhook', 'asked?.pathname !== path', 'false'],
    [
      'an update is taken before it is stored',
      'await answerUpdate(request, response);',
      'void answerUpdate(request, response);',
    ],
  ]),
  ...changesOf('channels/telegram/poll-updates.ts', 'channels/telegram-polling.test.ts', [
    [
      'an offset moves before an update is stored',
      "if (outcome.status === 'fulfilled') next = id + 1;",
      "next = id + 1;\n      if (outcome.status === 'fulfilled') continue;",
    ],
    ['an offset moves past what could not be stored', 'return { next, failed: true };', 'continue;'],
    [
      'an offset is kept after a quiet poll',
      'if (batch.length === 0) offset = undefined;',
      '',
      { only: 'no old offset is kept' },
    ],
    [
      'messages of a chat are stored in any order',
      'chats.get(chat) ?? Promise.resolve()',
      'Promise.resolve()',
    ],
    ['what was taken is not acknowledged at the end', 'await confirm(api, offset, log);', 'void offset;'],
    [
      'who no longer leads acknowledges',
      ' && !leading.aborted) await',
      ') await',
      { test: 'channels/telegram-leading.test.ts' },
    ],
    ['a batch is taken by who was stopped', 'signal.throwIfAborted();', ''],
    [
      'waiting updates are dropped at a start',
      'drop_pending_updates: false',
      'drop_pending_updates: true',
      { only: 'H3 a webhook that was set before' },
    ],
  ]),
  ...changesOf('channels/telegram/listen.ts', 'channels/telegram-listen.test.ts', [
    [
      'a message is told as taken before it is stored',
      'return onEvent({ ...event, message,',
      'return void onEvent({ ...event, message,',
    ],
    [
      'a press is answered before it is stored',
      'await onEvent({ ...event, openThread,',
      'void onEvent({ ...event, openThread,',
    ],
    [
      'a poisonous update blocks those behind it',
      "    log.error({ update, err: error }, 'skipped a Telegram update that could not be read');",
      '    throw error;',
    ],
  ]),
  ...changesOf('conversations/intake/admit.ts', 'conversations/join-parts.test.ts', [
    [
      'a part of a text is judged without the others',
      'const whole = join && (await store.inbox.begun(message, join));',
      'const whole = undefined as Message | undefined;',
    ],
    [
      'the first part decides nothing about the others',
      'message.addressed || whole.addressed',
      'message.addressed',
    ],
    ['a slash where the client cut is a command', "whole.text === '' ? command : undefined", 'command'],
  ]),
  ...changesOf('access/chat-migrations.ts', 'access/chat-id.test.ts', [
    [
      'a bare id means any that ends like it',
      "entry === id.slice(id.indexOf(':') + 1)",
      'id.endsWith(entry)',
    ],
    ['a qualified id is read as a bare one', "!entry.includes(':') && entry ===", 'entry ==='],
    ['a bare id means none', 'entry === id || (', 'entry === id && ('],
    [
      'ids differ in no letter case',
      'return entry === id ||',
      'return entry.toLowerCase() === id.toLowerCase() ||',
    ],
    ['an empty list means any', 'return entries.some(', 'return entries.length === 0 || entries.some('],
  ]),
  ...changesOf('core/conversation.ts', 'access/chat-id.test.ts', [
    [
      'a thread is its chat',
      'return thread === undefined ? room : `${room}/${escape(thread)}`;',
      'return room;',
    ],
    [
      'a chat is another by a trick of its name',
      'return encodeURIComponent(text).replaceAll',
      'return text.replaceAll',
    ],
    ['a chat is named like work beside another', ".replaceAll('~', '%7E')", ''],
    ['a chat has the id of another channel’s', 'return `${channel}:${chat}`;', 'return chat;'],
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
  ...changesOf('channels/slack/once-guard.ts', 'channels/slack-intake.test.ts', [
    [
      'a press, slash or form that failed is never tried again',
      '      seen.delete(id);\n      throw error;',
      '    throw error;',
    ],
    ['a press counts twice', 'if (seen.has(id)) return undefined;', ''],
  ]),
  ...changesOf('channels/slack/store-first.ts', 'channels/slack-socket.test.ts', [
    ['an event is acknowledged before it is stored', 'await app.processEvent(', 'void app.processEvent('],
  ]),
  ...changesOf('channels/slack/create-intake.ts', 'channels/slack-slash.test.ts', [
    [
      'anybody is followed in a thread',
      '(await partners.get(message.conversation)) === message.sender.id',
      '(await partners.get(message.conversation)) !== undefined',
      { test: 'channels/slack-messages.test.ts' },
    ],
    [
      'a thread is followed on after somebody else spoke',
      'partner !== undefined && partner !== sender.id',
      'false',
      { test: 'channels/slack-messages.test.ts' },
    ],
    [
      'known facts hide an external event',
      'seen.external || facts.external',
      'facts.external',
      { test: 'channels/slack-intake.test.ts' },
    ],
  ]),
  ...changesOf('conversations/suspects.ts', 'conversations/suspects.test.ts', [
    ['a death under a message is not counted', '(further || !isCharged ? slightly : 1)', 'slightly'],
    ['a suspect is guilty at once', 'if (!judged && clock.now() < until) return hold(item, known);', ''],
    [
      'no cause is outside',
      'if (!judged && Math.max(bornAt, lastInterrupted) > since) {',
      'if (until < 0) {',
    ],
    ['suspects run beside one that is held', '[...held.values()].some((until) => until > now) || ', ''],
  ]),
  ...changesOf('conversations/join-turn.ts', 'conversations/join-turn.test.ts', [
    ['words long after go on with the last', ' && sentAt - last.sentAt <= continuationMs', ''],
    ['words go on with a call of a skill', '!isCall && ', ''],
  ]),
  ...changesOf('conversations/intake/take-edit.ts', 'conversations/take-edit.test.ts', [
    ['any edit is a new message', 'if (!heard.some(({ id }) => id === edited.id)) return;', ''],
    ['an edit makes a command of what is answered', ' || (await isCommand(edited, resolve))', ''],
    ['old words that an edit brings back are lost', '`${at}\\n${edited.text}`', 'edited.text'],
    ['the first words are never brought back', ' && !(await hasJoined(edited, deps))', ''],
  ]),
  ...changesOf('channels/slack/look-up.ts', 'channels/slack-names.test.ts', [
    ['a zone that there is none of is told', 'tz && isZone(tz)', 'tz'],
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
  ...changesOf('conversations/intake/admit.ts', 'conversations/admit.test.ts', [
    ['a pasted code goes on', 'if (clean === undefined) return;', ''],
    ['a code in a quote is stored', 'partOf(event, clean, deps)', 'partOf(event, event.message, deps)'],
  ]),
  ...changesOf('conversations/intake/receive-event.ts', 'conversations/admit.test.ts', [
    [
      'a code in the quote of an edit is stored',
      'await takeEdit(message, at, {',
      'await takeEdit(edited, at, {',
    ],
  ]),
  ...changesOf('access/users.ts', 'access/pairing.test.ts', [
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
  ...changesOf('access/users.ts', 'access/pairing.test.ts', [
    ['the language of somebody forgotten stays', 'await stored.delete(languageKey(sender));', ''],
    ['the language of somebody who is back is never kept', 'languages.delete(sender);', ''],
  ]),
  ...changesOf('conversations/join-turn.ts', 'conversations/join-turn.test.ts', [
    [
      'an answer to a question joins',
      '(await questions.open({ conversation, sender: sender.id, transcript })).length === 0',
      'true',
    ],
  ]),
  ...changesOf('channels/slack/create-intake.ts', 'channels/slack-intake.test.ts', [
    ['another bot takes a thread over', " || sender.kind === 'bot') return;", ') return;'],
  ]),
  ...changesOf('access/groups.ts', 'access/groups.test.ts', [
    [
      'a bot asks for a group in an owner’s name',
      "!addressed || sender.kind !== 'person' ||",
      '!addressed ||',
    ],
  ]),
  ...changesOf('access/users.ts', 'access/groups.test.ts', [
    ['any group counts as allowed', 'allowed.some((group) => group !== undefined)', 'true'],
    [
      'a group with a new id is not known',
      '[chatIdOf(message.conversation), ...formerChatIds]',
      '[chatIdOf(message.conversation)]',
    ],
  ]),
  ...changesOf('access/groups.ts', 'access/groups.test.ts', [
    [
      'a group is allowed that nobody asked about',
      'asked === undefined || !(await stored.delete(askedKey(id)))',
      '!(await stored.delete(askedKey(id))) && false',
    ],
    ['two owners decide', '!(await stored.delete(askedKey(id)))', 'false'],
    ['owners are asked about what they ignored', 'ignored.some((value) => value !== undefined)', 'false'],
    ['strangers flood the owners', 'if (!byOwner && byOthers.length >= mostByOthers) return undefined;', ''],
    ['each word asks again', 'if (recent.some(([id]) => ids.includes(id))) return undefined;', ''],
    [
      'a group stays allowed when the bot was taken out',
      'if (!(await disallow(await idsOf(place)))) return;',
      '',
    ],
    [
      'a group that got a new id is given up',
      'if ((await migrations.current(place)).chat !== place.chat) return;',
      '',
    ],
    ['Ignore allows', "if (verdict === 'allow') await", 'if (true) await'],
  ]),
  ...changesOf('access/groups.ts', 'end-to-end/unlisted-groups.test.ts', [
    ['anybody makes the bot ask', ' || !(await users.isOwner(sender.id))', ''],
    ['a word to nobody asks', '!addressed || ', ''],
  ]),
  ...changesOf('features/pairing/feature.ts', 'end-to-end/slack-home.test.ts', [
    [
      'everybody sees who waits for an owner',
      'if (!(await users.isOwner(sender.id))) return {};',
      '',
      { only: 'an owner reads who waits' },
    ],
  ]),
  ...changesOf('features/groups/feature.ts', 'end-to-end/unlisted-groups.test.ts', [
    ['anybody allows a group', 'if (!(await users.isOwner(sender.id)))', 'if (false)'],
  ]),
  ...changesOf('conversations/intake/home-page.ts', 'end-to-end/slack-home.test.ts', [
    [
      'a stranger sees the page',
      'if (!may.allowed) return [{ markdown: toStranger(visit, may.code) }];',
      '',
      { only: 'a stranger reads' },
    ],
  ]),
  ...changesOf('conversations/intake/home-page.ts', 'end-to-end/slack-home.test.ts', [
    [
      'a stranger is offered skills',
      'if (!(await users.mayAct(visit)).allowed) return;',
      '',
      { only: 'offered what they may start' },
    ],
  ]),
  ...changesOf('conversations/stop-work.ts', 'conversations/stop-work.test.ts', [
    ['anybody’s run is one’s own', '({ message }) => message?.sender.id === sender', '() => true'],
  ]),
  ...changesOf('conversations/has-progressed.ts', 'conversations/has-progressed.test.ts', [
    [
      'a message is given up while its run works',
      'if (waiting.some(({ key }) => runs.some((run) => key === taskKey(run)))) return true;',
      '',
    ],
  ]),
  ...changesOf('conversations/join-turn.ts', 'conversations/join-turn.test.ts', [
    ['words of a removed person join', 'if (!(await users.decide(message)).allowed) return false;', ''],
    ['somebody else’s words join', 'message?.sender.id === item.message.sender.id', 'true'],
    ['a command joins', "judged.kind !== 'turn' || judged.invocation !== undefined", 'false'],
    ['what one person alone sees joins', 'ephemeral === true || ', ''],
  ]),
  ...changesOf('agent/show-to.ts', 'agent/stub-followed.test.ts', [
    ['joined words free a turn from its skill', ' && entry.joins === undefined', ''],
  ]),
];
