import { createHash } from 'node:crypto';
import { z } from 'zod';
import { isShallow } from '../../lib/json/json-values.ts';
import { oneLine } from '../../lib/text/text.ts';
import { cleanSchema, strangerText } from './clean-schema.ts';

export type McpHints = Readonly<{
  readOnlyHint?: boolean | undefined;
  destructiveHint?: boolean | undefined;
  idempotentHint?: boolean | undefined;
  openWorldHint?: boolean | undefined;
}>;

/** A tool as its server describes it, with texts made safe. `hash` is that of the original. */
export type McpDefinition = Readonly<{
  name: string;
  title?: string;
  description: string;
  inputSchema: Readonly<Record<string, unknown>>;
  hints: McpHints;
  hash: string;
}>;

type ReadDefinition =
  | Readonly<{ ok: true; definition: McpDefinition }>
  /** `name` is one line, and empty if the tool has none. */
  | Readonly<{ ok: false; name: string; problem: string }>;

/** How many characters of a description, and of a schema as JSON, a model gets. */
const descriptionLimit = 1_500;
const schemaLimit = 30_000;
/** How many levels a definition may have. Deeper ones could not be walked through. */
export const nestingLimit = 64;
export const tooDeep = 'nested too deep';

const flag = z.boolean().optional().catch(undefined);
const hints = z.object({
  readOnlyHint: flag,
  destructiveHint: flag,
  idempotentHint: flag,
  openWorldHint: flag,
});
const listed = z.object({
  name: z.string().min(1).max(256),
  title: z.string().optional().catch(undefined),
  description: z.string().optional().catch(undefined),
  inputSchema: z.record(z.string(), z.unknown()),
  annotations: hints.optional().catch(undefined),
  execution: z.object({ taskSupport: z.string() }).optional().catch(undefined),
});

/** Reads one tool, so that one that can't be used does not affect the others. */
export function readDefinition(raw: unknown): ReadDefinition {
  if (!isShallow(raw, nestingLimit) || z.object({ inputSchema: z.literal(tooDeep) }).safeParse(raw).success)
    return refused(raw, 'its description is nested too deep');
  const parsed = listed.safeParse(raw);
  if (!parsed.success) return refused(raw, 'its description is malformed');
  const { name, title, description = '', inputSchema, annotations = {}, execution } = parsed.data;
  if (execution?.taskSupport === 'required') return refused(raw, 'it can only be called as a task');
  const schema = cleanSchema(inputSchema);
  const size = JSON.stringify(schema).length;
  if (size > schemaLimit)
    return refused(raw, `its input is described in ${size} characters, and ${schemaLimit} are taken`);
  const said = strangerText(description, descriptionLimit);
  const shown = title === undefined ? '' : oneLine(strangerText(title, 100), 100);
  return {
    ok: true,
    definition: {
      name,
      title: shown === '' ? undefined : shown,
      description: said,
      inputSchema: schema,
      hints: annotations,
      hash: hashOf([description, title ?? '', inputSchema, annotations]),
    },
  };
}

function refused(raw: unknown, problem: string): ReadDefinition {
  const name = z.object({ name: z.string() }).safeParse(raw);
  return { ok: false, name: name.success ? oneLine(name.data.name, 100) : '', problem };
}

/** Hashes a value regardless of the order of its keys. */
function hashOf(value: unknown): string {
  const text = JSON.stringify(value, (_, item: unknown) =>
    typeof item === 'object' && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  );
  return createHash('sha256').update(text).digest('hex');
}
