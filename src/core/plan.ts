/** A step of the work on a message: a tool call, or a call of a skill's run (U18). */
export type WorkStep = Readonly<{
  /** Unique within the work on one message. */
  id: string;
  /** What is used, in words for people. It never says what a call is given, because that may hold secrets. */
  title: string;
  /** What happens in the step, such as `searching the web`. */
  doing: string;
  /** `waiting` also while a person is asked. `apart`: it continues in the background, and the work does not wait for it. */
  state: 'waiting' | 'working' | 'apart' | 'done' | 'failed';
}>;

/** The steps of the work on a message, in the order in which they began. `ended` is the title once it is over. */
export type Plan = Readonly<{ title: string; ended: string; steps: readonly WorkStep[] }>;

/** The plan as it stays when the work is over. A step that has not ended by then never will, unless it is apart. */
export function endedPlan({ ended, steps }: Plan): Plan {
  const over = steps.map((step) => (isOpen(step) ? { ...step, state: 'failed' as const } : step));
  return { title: ended, ended, steps: over };
}

/** Whether the work still waits for the step. */
export function isOpen({ state }: WorkStep): boolean {
  return state === 'waiting' || state === 'working';
}

const marks: Readonly<Record<WorkStep['state'], string>> = {
  waiting: '…',
  working: '▸',
  apart: '…',
  done: '✓',
  failed: '✗',
};

/** The whole plan in words, a line for each step. */
export function planText({ title, steps }: Plan): string {
  return [title, ...steps.map((step) => `${marks[step.state]} ${step.title}`)].join('\n');
}
