/** How much work there is, in every process's lanes: for the operator's gauges (L4). */
export type Backlog = Readonly<{
  /** Items waiting for an answer or being answered. */
  inboxWaiting: number;
  inboxDead: number;
  /** Outbox rows neither sent nor dead. */
  outboxWaiting: number;
}>;
