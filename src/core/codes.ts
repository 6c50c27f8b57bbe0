export const capabilityCodes = [
  'capability_not_found',
  'capability_access_denied',
  'capability_auth_required',
  'capability_account_ambiguous',
  'capability_auth_flow_invalid',
  'capability_auth_flow_expired',
  'capability_auth_flow_denied',
  'capability_auth_flow_ambiguous',
  'capability_auth_callback_invalid',
  'capability_auth_code_conflict',
  'capability_auth_state_mismatch',
  'capability_auth_code_missing',
  'capability_invalid_input',
  'capability_invalid_output',
  'capability_backend_unavailable',
  'capability_mutation_not_confirmed',
] as const;
export type CapabilityCode = (typeof capabilityCodes)[number];

/** Error codes of results. They never change, because operators and skills match on them (R8). */
export type ErrorCode =
  | 'SKILL_NOT_FOUND'
  | 'SKILL_DISABLED'
  | 'SKILL_NOT_AVAILABLE_HERE'
  | 'SKILL_UNAVAILABLE'
  | 'SKILL_MISCONFIGURED'
  | 'MISSING_ENV'
  | 'CAPABILITY_UNAVAILABLE'
  | 'ARGUMENTS_INVALID'
  | 'TOOL_NOT_ALLOWED'
  | 'TOOL_POLICY_DENIED'
  | 'TOOL_CONFIRMATION_REQUIRED'
  | 'TOOL_FAILED'
  | 'SIGN_IN_NEEDED'
  | 'TOOL_OUTPUT_TOO_LARGE'
  | 'INVALID_PATH'
  | 'FILE_NOT_FOUND'
  | 'FILE_TOO_LARGE'
  | 'BINARY_FILE'
  | 'SCRIPT_FAILED'
  | 'SCRIPT_TIMEOUT'
  | 'MAX_ITERATIONS'
  | 'TIMEOUT'
  | 'CANCELLED'
  | 'MODEL_ERROR'
  | 'EMPTY_RESULT'
  | 'RECURSION_LIMIT'
  | 'LIMIT_REACHED'
  | 'INTERNAL_ERROR'
  | CapabilityCode;

export type WarningCode =
  | 'CONTENT_TRUNCATED'
  | 'ALLOWED_TOOLS_ENFORCED'
  | 'ALLOWED_TOOLS_IGNORED'
  | 'ALLOWED_TOOLS_NOT_OFFERED'
  | 'ALLOWED_TOOLS_UNKNOWN'
  | 'SHADOWED'
  | 'NAME_DIR_MISMATCH'
  | 'YAML_REPAIRED'
  | 'DESCRIPTION_MISSING'
  | 'DESCRIPTION_TRUNCATED'
  | 'INLINE_FORKED';

export type Diagnostic = Readonly<{
  /** A `note` is for information and needs no fix. */
  level: 'error' | 'warning' | 'note';
  code: string;
  message: string;
  path?: string;
  field?: string;
  /** Line in the file, counted from 1. */
  line?: number;
}>;
