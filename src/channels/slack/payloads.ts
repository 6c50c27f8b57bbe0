import { z } from 'zod';

// Slack leaves out nearly any field at times.
const text = z.string().nullish();
/** A field that is optional for us. If it is damaged, the message is read all the same. */
const courtesy = text.catch(undefined);
const id = z.string().min(1);
const ts = z.string().regex(/^\d{1,12}\.\d{1,9}$/);

const file = z
  .object({
    id: courtesy,
    name: courtesy,
    title: courtesy,
    mimetype: courtesy,
    size: z.number().nullish().catch(undefined),
    mode: courtesy,
    file_access: courtesy,
    transcription: z
      .object({
        status: courtesy,
        preview: z.object({ content: text, has_more: z.boolean().nullish() }).nullish(),
      })
      .nullish()
      .catch(undefined),
  })
  .catch({});

const shared = z.object({
  is_share: z.boolean().nullish(),
  is_msg_unfurl: z.boolean().nullish(),
  author_id: courtesy,
  author_name: courtesy,
  service_name: courtesy,
  pretext: courtesy,
  title: courtesy,
  title_link: courtesy,
  text: courtesy,
  fields: z
    .array(z.object({ title: courtesy, value: courtesy }).catch({}))
    .nullish()
    .catch(undefined),
  footer: courtesy,
  fallback: courtesy,
  from_url: courtesy,
  blocks: z.array(z.unknown()).nullish().catch(undefined),
  message_blocks: z
    .array(z.object({ message: z.object({ blocks: z.array(z.unknown()).nullish() }).nullish() }).catch({}))
    .nullish()
    .catch(undefined),
  files: z.array(file).nullish().catch(undefined),
});
export type SharedMessage = z.output<typeof shared>;
export type SaidFile = z.output<typeof file>;

export const said = z.object({
  subtype: text,
  text,
  user: text,
  username: courtesy,
  bot_id: text,
  bot_profile: z.object({ app_id: text, name: courtesy }).nullish(),
  user_profile: z
    .object({ display_name: courtesy, real_name: courtesy, name: courtesy, team: text })
    .nullish(),
  team: text,
  user_team: text,
  source_team: text,
  ts: ts.nullish(),
  edited: z.object({ ts: courtesy }).nullish().catch(undefined),
  thread_ts: ts.nullish(),
  files: z.array(file).nullish().catch(undefined),
  attachments: z.array(shared).nullish().catch(undefined),
  blocks: z.array(z.unknown()).nullish().catch(undefined),
});

export type SlackPayload = z.output<typeof said>;

export const messageEvent = said.extend({
  type: z.enum(['message', 'app_mention']),
  channel: id,
  channel_type: text,
  message: said.nullish(),
  previous_message: said.nullish(),
  root: said.nullish().catch(undefined),
});
export type MessageEvent = z.output<typeof messageEvent>;

export const eventCallback = z.object({
  type: z.literal('event_callback'),
  team_id: text,
  authorizations: z.array(z.object({ team_id: text })).nullish(),
  is_ext_shared_channel: z.boolean().nullish(),
  event: z.looseObject({ type: id }),
});

export const sessionStopped = z.object({
  type: z.literal('agent_session_stopped'),
  channel: id,
  user: id,
  thread_ts: ts,
  event_ts: ts,
});

export const reactionChange = z.object({
  type: z.enum(['reaction_added', 'reaction_removed']),
  user: id,
  reaction: id,
  item_user: text,
  item: z.object({ type: z.literal('message'), channel: id, ts }),
  event_ts: ts,
});

export const slashCommand = z.object({
  command: z.string().regex(/^\/\S+$/),
  text,
  trigger_id: id,
  channel_id: id,
  user_id: id,
  user_name: text,
  team_id: text,
});
export type SlashCommand = z.output<typeof slashCommand>;

/** Somebody opened the app's home. `channel` is their direct message with the bot. */
export const homeOpened = z.object({
  type: z.literal('app_home_opened'),
  tab: z.enum(['home', 'messages']),
  user: id,
  channel: id,
  event_ts: text,
  view: z.object({ hash: text }).nullish().catch(undefined),
});

const option = z.object({ value: text }).nullish();

export const viewSubmission = z.object({
  type: z.literal('view_submission'),
  trigger_id: id,
  user: z.object({ id, name: text, username: text, team_id: text }),
  view: z.object({
    callback_id: text,
    private_metadata: z.string(),
    state: z.object({
      values: z.record(
        z.string(),
        z.record(
          z.string(),
          z.object({ value: text, selected_option: option, selected_options: z.array(option).nullish() }),
        ),
      ),
    }),
  }),
});
export type ViewSubmission = z.output<typeof viewSubmission>;

const acted = z.object({
  type: z.literal('block_actions'),
  user: z.object({ id, name: text, username: text, team_id: text }),
  trigger_id: text,
  actions: z
    .array(
      z.object({
        action_id: id,
        action_ts: text,
        value: text,
        selected_option: z.object({ value: text }).nullish(),
      }),
    )
    .min(1),
});

export const homeActions = acted.extend({
  view: z.object({ id, type: z.literal('home'), private_metadata: id }),
});

export type HomeActions = z.output<typeof homeActions>;

export const blockActions = acted.extend({
  container: z.object({
    message_ts: ts,
    channel_id: text,
    thread_ts: ts.nullish(),
    is_ephemeral: z.boolean().nullish(),
  }),
  channel: z.object({ id }).nullish(),
  message: z.object({ thread_ts: ts.nullish() }).nullish(),
});
export type BlockActions = z.output<typeof blockActions>;
