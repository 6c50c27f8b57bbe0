import { whyNoAccess } from '../../../access/decide-skill.ts';
import type { App } from '../../../app.ts';
import { chatTypes } from '../../../core/conversation.ts';
import type { McpSettings } from '../mcp-settings.ts';

/** Names of the servers that this person may use somewhere, so that they may have an account there (X8). */
export async function serversOf(
  { users, accessOf }: App,
  of: Parameters<App['accessOf']>[0],
  settings: Readonly<Record<string, McpSettings>>,
): Promise<readonly string[]> {
  const isOwner = await users.isOwner(of.sender.id);
  const use = await accessOf(of);
  return Object.entries(settings).flatMap(([name, { users: named }]) => {
    const rules = { chatTypes, sensitive: false, users: named ?? (isOwner ? [of.sender.id] : []) };
    return whyNoAccess(name, rules, use) === undefined ? [name] : [];
  });
}
