/**
 * Loaded before the tests (`node --import`): Node's test runner follows every promise and timer, to tell which test an error
 * comes from that nobody caught. That takes a tenth of the time of tests that wait a lot. Without it such an error is
 * printed and fails the process it happens in; `node --test FILE` names the test.
 */
import hooks from 'node:async_hooks';
import { isMainThread } from 'node:worker_threads';

if (isMainThread) {
  const { createHook } = hooks;
  const nothing = { enable: () => nothing, disable: () => nothing };
  Object.assign(hooks, { createHook: () => nothing });
  await import('node:test');
  Object.assign(hooks, { createHook });
  process.on('uncaughtExceptionMonitor', (error) => console.error(error));
}
