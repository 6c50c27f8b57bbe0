import type { Json } from './event-payloads.ts';
import type { Views } from './views.ts';
import type { SlackUser, Workspace } from './workspace.ts';

/** What every press of a button says, and every choice of an option: by whom, of what. Where it was is added to it. */
export function pressPayload(
  workspace: Workspace,
  views: Pick<Views, 'trigger'>,
  user: SlackUser,
  shown: Readonly<{ blocks?: readonly Json[] }>,
  label: string,
): Json {
  const { element, option } = elementOf(shown.blocks ?? [], label);
  return {
    type: 'block_actions',
    user: { id: user.id, username: user.name, name: user.name, team_id: user.team },
    api_app_id: workspace.bot.appId,
    token: 'legacy-verification-token',
    trigger_id: views.trigger(user.id),
    team: { id: workspace.team, domain: 'skillet-test' },
    enterprise: null,
    is_enterprise_install: false,
    actions: [
      {
        type: element['type'],
        action_id: element['action_id'],
        block_id: 'b1',
        text: element['text'],
        ...(option === undefined ? { value: element['value'] } : { selected_option: option }),
        action_ts: workspace.nextTs(),
      },
    ],
  };
}

function elementOf(blocks: readonly Json[], label: string): { element: Json; option?: Json } {
  const elements = blocks.flatMap((block) =>
    block['type'] === 'actions' || block['type'] === 'context_actions' ? (block['elements'] as Json[]) : [],
  );
  for (const element of elements) {
    const thumbs = [element['positive_button'], element['negative_button']] as (Json | undefined)[];
    const thumb = thumbs.find((one) => one !== undefined && labelOf(one) === label);
    if (thumb !== undefined) return { element: { ...element, ...thumb } };
    if (labelOf(element) === label) return { element };
    const option = ((element['options'] as Json[] | undefined) ?? []).find((one) => labelOf(one) === label);
    if (option !== undefined) return { element, option };
  }
  throw new Error(`no button "${label}"`);
}

function labelOf(element: Json): unknown {
  return (element['text'] as Json | undefined)?.['text'];
}
