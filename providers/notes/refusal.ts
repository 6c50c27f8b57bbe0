/** A request that the provider answers with an error: `code` is for the host, the message for who reads its log. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly code: RefusalCode;

  constructor(code: RefusalCode, message: string, more: { cause?: unknown } = {}) {
    super(message, more);
    this.code = code;
  }
}

/** The codes of the bridge contract that this provider uses. */
export type RefusalCode =
  | 'capability_not_found'
  | 'capability_access_denied'
  | 'capability_auth_required'
  | 'capability_auth_flow_invalid'
  | 'capability_auth_flow_expired'
  | 'capability_auth_flow_denied'
  | 'capability_auth_callback_invalid'
  | 'capability_auth_state_mismatch'
  | 'capability_auth_code_missing'
  | 'capability_invalid_input'
  | 'capability_backend_unavailable';
