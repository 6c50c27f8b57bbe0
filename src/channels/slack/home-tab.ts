import type { Visit, Home } from '../../core/channel.ts';
import { splitMarkdown } from '../../lib/markdown/split-markdown.ts';
import { actionOf, toButtonBlocks, type SlackBlock } from './buttons.ts';
import { toSlackText } from './from-markdown.ts';
import { eventCallback, homeActions, homeOpened, type HomeActions } from './payloads.ts';
import { noNames, slackName, type Names } from './plain-text.ts';
import type { SlackIdentity } from './slack-options.ts';
import { senderKind } from './to-message.ts';

const mostBlocks = 100;
const mostBytes = 240_000;
const longestSection = 3000;

export type HomeVisit = Readonly<{
  visit: Visit;
  tab: 'home' | 'messages';
  hash?: string;
  /** Opens a form. It is valid for 3 s. */
  trigger?: string;
}>;

export function toHomeVisit(
  payload: unknown,
  me: SlackIdentity,
  names: Names = noNames,
): HomeVisit | undefined {
  const pressed = homeActions.safeParse(payload);
  if (pressed.success) return fromPress(pressed.data, me, names);
  const wrapper = eventCallback.safeParse(payload);
  if (!wrapper.success) return undefined;
  const { event, team_id, authorizations, is_ext_shared_channel } = wrapper.data;
  const opened = homeOpened.safeParse(event);
  if (!opened.success) return undefined;
  const { user, channel: chat, tab, event_ts, view } = opened.data;
  if (tab === 'messages' && me.agentView !== true) return undefined;
  const isHome = (team_id || authorizations?.[0]?.team_id) === me.team;
  const external = is_ext_shared_channel === true || !isHome;
  const visit: Visit = {
    id: `slack:${me.team}:${chat}:${tab}:${event_ts ?? ''}`,
    conversation: { channel: 'slack', chat },
    chatType: 'unknown',
    external,
    sender: { id: `slack:${user}`, name: names.get(user) ?? user, kind: senderKind(undefined, external, me) },
  };
  return { visit, tab, hash: view?.hash ? view.hash : undefined };
}

/** A press on the Home tab. It names no channel, but the view does. */
function fromPress(
  { user, view, actions, trigger_id: trigger }: HomeActions,
  me: SlackIdentity,
  names: Names,
): HomeVisit | undefined {
  const [button] = actions;
  const action = button && actionOf(button);
  if (action === undefined) return undefined;
  const kind = senderKind(user.team_id, true, me);
  const name = names.get(user.id) ?? slackName(user.name, user.username) ?? user.id;
  const visit: Visit = {
    id: `slack:${me.team}:${view.id}:press:${user.id}:${button?.action_ts ?? ''}`,
    conversation: { channel: 'slack', chat: view.private_metadata },
    chatType: 'unknown',
    external: kind === 'guest',
    sender: { id: `slack:${user.id}`, name, kind },
    action,
  };
  return { visit, tab: 'home', trigger: trigger || undefined };
}

/** Writes the Home tab; what does not fit is cut. `chat` is the direct message that presses belong to. */
export function toHomeView(home: Home, chat: string): SlackBlock {
  const all = home.flatMap((section, index) => [
    ...(index === 0 ? [] : [{ type: 'divider' }]),
    ...toBlocks(section),
  ]);
  const sizes = all.map((block) => Buffer.byteLength(JSON.stringify(block)));
  const fits = (_: unknown, index: number): boolean =>
    index < mostBlocks && sizes.slice(0, index + 1).reduce((sum, size) => sum + size, 0) < mostBytes;
  return { type: 'home', private_metadata: chat, blocks: all.filter(fits) };
}

/** Writes a section as blocks, because views accept no `markdown` block. */
function toBlocks({ markdown, buttons = [] }: Home[number]): readonly SlackBlock[] {
  const pieces = splitMarkdown(markdown, (piece) => toSlackText(piece).length <= longestSection);
  return [
    ...pieces.map((piece) => ({
      type: 'section',
      text: { type: 'mrkdwn', text: toSlackText(piece), verbatim: true },
    })),
    ...toButtonBlocks(buttons),
  ];
}
