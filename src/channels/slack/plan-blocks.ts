import { planText, type Plan, type WorkStep } from '../../core/plan.ts';
import type { SlackBlock } from './buttons.ts';
import { escapeText } from './plain-text.ts';

const statuses: Readonly<Record<WorkStep['state'], string>> = {
  waiting: 'pending',
  working: 'in_progress',
  apart: 'pending',
  done: 'complete',
  failed: 'error',
};

/** A plan as a block of a message (U18). The message's text says the same, for screen readers. */
export function toPlanBlock({ title, steps }: Plan): SlackBlock {
  const tasks = steps.map((step) => ({
    type: 'task_card',
    task_id: step.id,
    title: step.title,
    status: statuses[step.state],
  }));
  return { type: 'plan', title, tasks };
}

/** The text of a message that shows a plan, in Slack's markup. */
export function toPlanText(plan: Plan): string {
  return escapeText(planText(plan));
}

/** What a stream has to add so that it shows `plan` after it showed `before`. */
export function toPlanChunks(plan: Plan | undefined, before: Plan | undefined): readonly SlackBlock[] {
  if (plan === undefined) return [];
  const known = new Map(before?.steps.map((step) => [step.id, step]));
  const changed = plan.steps.filter((step) => {
    const shown = known.get(step.id);
    return shown?.state !== step.state || shown.title !== step.title;
  });
  const title = plan.title === before?.title ? [] : [{ type: 'plan_update', title: plan.title }];
  return [
    ...title,
    ...changed.map(({ id, title: name, state }) => ({
      type: 'task_update',
      id,
      title: name,
      status: statuses[state],
    })),
  ];
}
