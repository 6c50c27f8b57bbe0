import type { Model, ModelSettings } from '../../core/model.ts';
import type { CreateTurnContext } from '../../conversations/turn-context.ts';
import type { Handle } from '../../conversations/inbox-worker.ts';
import type { CreateRunContext, RunSkill } from '../../runs/run-skill.ts';
import type { Outbox } from '../../store/outbox.ts';

/** Wraps the steps of a message in spans, each where it is put together (L4). No span has what was said in it. */
export type Tracing = Readonly<{
  items(handle: Handle): Handle;
  /** Traces a model. `settings` are undefined for the offline model. */
  model(model: Model, settings: ModelSettings | undefined): Model;
  runs(run: RunSkill): RunSkill;
  turnCalls(create: CreateTurnContext): CreateTurnContext;
  runCalls(create: CreateRunContext): CreateRunContext;
  outbox(outbox: Outbox): Outbox;
  /** Sends what is left, for at most two seconds. */
  close(): Promise<void>;
}>;

export const noTracing: Tracing = {
  items: (handle) => handle,
  model: (model) => model,
  runs: (run) => run,
  turnCalls: (create) => create,
  runCalls: (create) => create,
  outbox: (outbox) => outbox,
  close: async () => undefined,
};
