import type { Clock } from '../../../src/lib/clock.ts';
import { BotApiError, tooManyRequests } from './bot-api-error.ts';

/** Something that goes wrong with calls of a method, `times` times (once by default). */
export type Fault = Readonly<{
  /** As in the Bot API; any method if absent. */
  method?: string;
  times?: number;
  /** Milliseconds until the call is carried out. */
  delayMs?: number;
  /** Milliseconds from when the call was carried out until it is answered. */
  lateMs?: number;
  /** The call is carried out at once, and answered when this promise resolves. */
  answered?: Promise<void>;
  /** A server of an earlier version passes over this parameter in silence. */
  forgets?: string;
  /** Answers 429; nothing is carried out. */
  retryAfter?: number;
  /** Answers with this code; nothing is carried out. */
  status?: Readonly<{ code: number; description: string }>;
  /** Answers as a proxy does; nothing is carried out. With an HTML page unless `json` says what the body is. */
  badGateway?: true | Readonly<{ status: number; json: string }>;
  /** Cuts the connection, before or after the call is carried out. */
  cut?: 'before' | 'after';
  /** The call is carried out when this promise resolves. */
  hold?: Promise<void>;
}>;

export type Faults = Readonly<{
  add(fault: Fault): void;
  /** The fault that meets this call; it is used up by this. */
  next(method: string): Fault | undefined;
}>;

export function createFaults(): Faults {
  const planned: { fault: Fault; left: number }[] = [];
  return {
    add(fault) {
      planned.push({ fault, left: fault.times ?? 1 });
    },
    next(method) {
      const index = planned.findIndex(({ fault }) => (fault.method ?? method).toLowerCase() === method);
      const found = planned[index];
      if (found === undefined) return undefined;
      found.left -= 1;
      if (found.left <= 0) planned.splice(index, 1);
      return found.fault;
    },
  };
}

/** Carries out what a fault does before the call. Throws BotApiError where it answers instead. */
export async function meet(fault: Fault, clock: Clock): Promise<void> {
  if (fault.hold !== undefined) await fault.hold;
  if (fault.delayMs !== undefined) await clock.sleep(fault.delayMs);
  if (fault.retryAfter !== undefined) throw tooManyRequests(fault.retryAfter);
  if (fault.status !== undefined) throw new BotApiError(fault.status.code, fault.status.description);
}
