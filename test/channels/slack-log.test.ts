import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toSlackLogger } from '../../src/channels/slack/slack-log.ts';
import { quietLog } from '../support/quiet-log.ts';

test('L6 a socket that ends without a cause, as at each stop, is no error line; one with a cause is', () => {
  const lines: string[] = [];
  const log = { ...quietLog(), error: note('error'), debug: note('debug') };
  const logger = toSlackLogger(log);
  logger.error('WebSocket error occurred: ');
  logger.error('WebSocket error occurred: ', '');
  logger.error('WebSocket error occurred: connect ECONNREFUSED');
  logger.error('WebSocket error occurred:', new Error('bad handshake'));
  assert.deepEqual(
    lines.map((line) => line.trimEnd()),
    [
      'debug WebSocket error occurred:',
      'debug WebSocket error occurred:',
      'error WebSocket error occurred: connect ECONNREFUSED',
      'error WebSocket error occurred: bad handshake',
    ],
  );

  function note(level: string) {
    return (_: object, message?: string) => void lines.push(`${level} ${message}`);
  }
});
