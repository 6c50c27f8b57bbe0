/** A protocol that servers of tests speak. */
export type Protocol = '2025-11-25' | '2026-07-28';

/** The protocol of servers that a test starts without naming one. `newer-protocol.test.ts` sets it. */
export function spokenProtocol(): Protocol {
  return process.env['SKILLET_TEST_MCP'] === '2026-07-28' ? '2026-07-28' : '2025-11-25';
}
