/** The scopes that the manifest asks for, each with what fails without it (H13). docs/operators.md has the same table. */
export const neededScopes: ReadonlyMap<string, string> = new Map([
  ['app_mentions:read', 'mentions in channels'],
  ['assistant:write', 'suggestions in direct messages'],
  ['channels:history', 'threads in public channels without a mention'],
  ['channels:read', 'kind and name of public channels, invitations to them'],
  ['chat:write', 'every answer'],
  ['commands', 'the slash command'],
  ['files:read', 'reading files that people send'],
  ['files:write', 'sending files'],
  ['groups:history', 'threads in private channels without a mention'],
  ['groups:read', 'kind and name of private channels, invitations to them'],
  ['im:history', 'direct messages'],
  ['im:read', 'the slash command and buttons in direct messages'],
  ['mpim:history', 'threads in group direct messages without a mention'],
  ['mpim:read', 'group direct messages'],
  ['reactions:write', 'the reaction on a message that will be answered'],
  ['users:read', 'names and languages of people'],
]);
