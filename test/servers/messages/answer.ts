/** A block of a scripted answer, in the API's own words. */
export type AnswerBlock =
  | Readonly<{ type: 'text'; text: string; citations?: readonly object[] }>
  | Readonly<{ type: 'thinking'; thinking: string; signature?: string }>
  /** `json`: written as it is in place of the input, JSON or not. */
  | Readonly<{ type: 'tool_use'; name: string; input: unknown; json?: string; id?: string }>
  | Readonly<{ type: 'server_tool_use'; name: string; input: unknown; id?: string }>
  | ServerToolResult;

/** What one of the server's own tools found. It follows the call with this id. */
export type ServerToolResult = Readonly<{
  type: 'tool_search_tool_result' | 'web_search_tool_result';
  tool_use_id: string;
  content: unknown;
}>;

export type StopReason =
  | 'end_turn'
  | 'tool_use'
  | 'max_tokens'
  | 'stop_sequence'
  | 'pause_turn'
  | 'refusal'
  | 'model_context_window_exceeded';

/** How the bytes of an answer go over the wire. */
export type Wire = Readonly<{
  /** Before the first byte. */
  delayMs?: number;
  /** Between two events: a slow drip. */
  dripMs?: number;
  /** Bytes of one write: small numbers split characters and JSON. */
  chunkBytes?: number;
  /** Pings stand between the events. Default: true. */
  pings?: boolean;
  /** The connection is cut after so many events (0: before the first, after the headers). */
  cutAfter?: number;
  /** An `error` event takes the place of the rest after so many events. */
  errorAfter?: Readonly<{ events: number; type: string; message: string }>;
  /** Awaited before the closing events, or before the event of this number. */
  hold?: Promise<unknown>;
  holdBefore?: number;
}>;

/** What the server does with one valid request. A string is a text that ends the turn. */
export type ServerStep =
  | string
  | Readonly<{ content: readonly AnswerBlock[]; stopReason?: StopReason; wire?: Wire }>
  /** An HTTP error with the API's error body. `type` defaults to the one that belongs to the status. */
  | Readonly<{ status: number; type?: string; message?: string; headers?: Readonly<Record<string, string>> }>
  /** Bytes as another server wrote them, with status 200. `then`: how the connection ends; default: as it should. */
  | Readonly<{ raw: string; type?: string; then?: 'reset' | 'stays open'; chunkBytes?: number }>
  /** Event after event until the client closes the connection. */
  | Readonly<{ endless: (count: number) => object; closed(): void }>
  /** The connection is reset without an answer. */
  | Readonly<{ reset: true }>;

const errorTypes: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  408: 'timeout_error',
  409: 'conflict_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  500: 'api_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

/** The error type that the API sends with a status. */
export function errorTypeOf(status: number): string {
  return errorTypes[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error');
}
