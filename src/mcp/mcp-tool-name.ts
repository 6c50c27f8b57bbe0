import { createHash } from 'node:crypto';

/** Characters of a name that the Messages API takes. */
const limit = 64;

/**
 * `mcp_SERVER_TOOL` for a model: other characters than letters, digits, `_` and `-` become `_`. What is longer than 64
 * characters is cut, and ends in eight of a hash of the whole, so that two long names stay two (X7).
 */
export function mcpToolName(server: string, tool: string): string {
  const name = `mcp_${clean(server)}_${clean(tool)}`;
  if (name.length <= limit) return name;
  const mark = createHash('sha256')
    .update(JSON.stringify([server, tool]))
    .digest('hex')
    .slice(0, 8);
  return `${name.slice(0, limit - mark.length - 1)}_${mark}`;
}

function clean(text: string): string {
  return text.replace(/[^a-zA-Z0-9_-]/g, '_');
}
