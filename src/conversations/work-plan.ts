import { isOpen, type Plan, type WorkStep } from '../core/plan.ts';
import { sayIn } from '../core/texts/say.ts';
import { oneLine } from '../lib/text/text.ts';

/** Collects the steps of the work on a message (U18). */
export type WorkPlan = Readonly<{
  add(step: WorkStep): void;
  /** Sets what the model said before its calls, which is then the title. */
  said(words: string): void;
  /** Takes the steps that a process showed before it died. Those that did not end there have failed, unless they are made again. */
  resume(plan: Plan): void;
  /** The plan as it is now. Undefined before the first step. */
  current(): Plan | undefined;
}>;

/** Later steps share one place, so that a plan stays short enough to read. */
const mostSteps = 30;
const longestTitle = 150;

export function createWorkPlan(language: string | undefined): WorkPlan {
  const say = sayIn(language);
  const steps = new Map<string, WorkStep>();
  const seen = new Set<string>();
  let title = '';
  return {
    add(step) {
      seen.add(step.id);
      const id = steps.has(step.id) || steps.size < mostSteps ? step.id : lastStep;
      steps.set(id, { ...step, id });
      if (step.state === 'working') title = sentence(step.doing);
    },
    said(words) {
      title = oneLine(words, longestTitle);
    },
    resume(plan) {
      const before = plan.steps.map((step) => (isOpen(step) ? { ...step, state: 'failed' as const } : step));
      const since = [...steps.values()];
      steps.clear();
      for (const step of [...before, ...since]) {
        steps.set(step.id, step);
        seen.add(step.id);
      }
      if (title === '') title = plan.title;
    },
    current() {
      if (steps.size === 0) return undefined;
      const all = [...steps.values()];
      return { title: title || sentence(all[0]?.doing ?? ''), ended: say`Steps: ${seen.size}`, steps: all };
    },
  };
}

const lastStep = 'more';

function sentence(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}
