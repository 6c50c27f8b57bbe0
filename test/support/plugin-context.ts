import assert from 'node:assert/strict';
import type { OpenCall } from '../../src/features/plugins/define-tool.ts';
import { namedLog } from '../../src/features/plugins/tool-context.ts';
import { quietLog } from './quiet-log.ts';

type Context = Awaited<ReturnType<OpenCall>>['context'];

/** What a plugin's tool is handed in a direct message; a test that uses more of it says what. */
export function pluginContext(change: Partial<Context> = {}): Context {
  const unused = (what: string) => async (): Promise<never> => assert.fail(`${what} is not to be used`);
  return {
    bot: { name: 'Botty' },
    conversation: { channel: 'telegram', chat: '42' },
    chatType: 'private',
    sender: { id: 'telegram:42' },
    sandbox: {
      mode: 'off',
      folders: { scratch: '/scratch', chat: '/chat' },
      run: unused('the sandbox'),
    },
    workspace: {
      read: unused('the workspace'),
      readText: unused('the workspace'),
      write: unused('the workspace'),
      list: unused('the workspace'),
    },
    artifact: unused('a file'),
    log: namedLog(quietLog(), {}),
    model: () => assert.fail('no model is to be asked'),
    ...change,
  };
}
