import { decideMessage } from '../../access/decide-message.ts';
import { admissionIn } from '../../access/users.ts';
import type { Config } from '../../config/complete-config.ts';
import { placeInFile } from '../../config/config-problem.ts';
import { conversationOf } from '../../config/hook-sections.ts';
import { accessSettings } from '../../config/runtime-config.ts';
import type { Conversation } from '../../core/conversation.ts';
import type { StoreLook } from '../../store/look-at-store.ts';
import { check, type Check, type Found } from './finding.ts';

/** Checks whether events of each hook would be accepted (N7). A missing secret is a problem of the config instead. */
export function checkHooks(config: Config, store: StoreLook): Check {
  const placeOf = placeInFile(config.path);
  const found = config.hooks.flatMap((hook, index): readonly Found[] => {
    const [key, code, what] = problemOf(hook, config, store) ?? [];
    if (key === undefined || code === undefined) return [];
    const message = `hook ${hook.name}: ${what}`;
    return [
      { level: 'warning', code, message, path: config.path, line: placeOf(['hooks', index, key])?.line },
    ];
  });
  const names = config.hooks.map(({ name }) => name).join(', ') || 'none';
  return check(
    'hooks',
    config.server.listen === undefined ? names : `${names}, on ${config.server.listen}`,
    found,
  );
}

type Problem = readonly [key: 'conversation' | 'as', code: 'HOOK_CHANNEL' | 'HOOK_REFUSED', what: string];

function problemOf(hook: Config['hooks'][number], config: Config, store: StoreLook): Problem | undefined {
  const conversation = conversationOf(hook.conversation);
  const { channel, chat } = conversation;
  const isOpen = { telegram: config.telegram.token, slack: config.slack.botToken }[channel] !== undefined;
  if (!isOpen)
    return ['conversation', 'HOOK_CHANNEL', `[${channel}] has no token, so nobody can be told there`];
  const chatType = guessType(conversation);
  // Only Slack knows whose a direct message of Slack is.
  if (chatType === 'private' && channel === 'telegram' && hook.as !== `telegram:${chat}`)
    return [
      'as',
      'HOOK_REFUSED',
      `${hook.conversation} is a direct message of somebody else than ${hook.as}`,
    ];
  const keys = 'keys' in store ? store.keys : store.state === 'absent' ? [] : undefined;
  if (keys === undefined) return undefined;
  const { owner, ...known } = admissionIn(keys, hook.as, `${channel}:${chat}`);
  const access = accessSettings(config);
  const decision = decideMessage(
    { conversation, chatType, sender: { id: hook.as, kind: 'person' }, addressed: true },
    owner ? { ...access, owners: [...access.owners, hook.as] } : access,
    { ...known, formerChatIds: [] },
  );
  return decision.allowed ? undefined : ['as', 'HOOK_REFUSED', decision.reason];
}

/** Guesses the kind of a chat by the form of its id. */
function guessType({ channel, chat }: Conversation): 'private' | 'group' {
  return (channel === 'telegram' ? /^\d/ : /^D/).test(chat) ? 'private' : 'group';
}
