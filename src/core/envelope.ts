import type { ErrorCode, WarningCode } from './codes.ts';
import type { ActiveSkill } from './entry.ts';

/** The result of a tool (R8). `data` is text or plain JSON. */
export type Envelope = Readonly<{
  ok: boolean;
  data?: unknown;
  warnings: readonly Readonly<{ code: WarningCode; message: string }>[];
  errors: readonly Readonly<{ code: ErrorCode; message: string }>[];
  /** Set if `data` is the instructions of this skill, which the agent follows from now on (T6). */
  activeSkill?: ActiveSkill;
  /** Set if the work continues in the background, and this only says so (U9). */
  apart?: true;
}>;

export function succeed(data: unknown, warnings: Envelope['warnings'] = []): Envelope {
  return { ok: true, data, warnings, errors: [] };
}

export function fail(code: ErrorCode, message: string, data?: unknown): Envelope {
  return { ok: false, data, warnings: [], errors: [{ code, message }] };
}

export function renderEnvelope({ data, warnings, errors }: Envelope): string {
  const body = data === undefined ? [] : [typeof data === 'string' ? data : JSON.stringify(data, null, 1)];
  return [
    ...errors.map(({ code, message }) => `error ${code}: ${message}`),
    ...warnings.map(({ code, message }) => `warning ${code}: ${message}`),
    ...body,
  ].join('\n');
}
