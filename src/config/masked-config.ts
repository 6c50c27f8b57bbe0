import { stringify } from 'smol-toml';
import { createRedactor } from '../lib/redaction/redact.ts';
import type { Config } from './complete-config.ts';
import { valueAt, type KeyPath } from './section.ts';
import { isSecretKey, secretsOfConfig } from './secrets-of-config.ts';
import { writtenConfig } from './written-config.ts';

type Shown = Readonly<Record<string, unknown>>;

/**
 * The config in the file's own keys, safe to print (G5): what came from a variable is `$NAME` again, other secrets are
 * `[secret]`, in addresses too. For `config show`.
 */
export function maskedConfig(config: Config): Shown {
  const written = writtenConfig(config);
  // A value from the environment also stands where another was made of it, as the store's url of the data directory.
  const values = config.fromEnvironment.map(({ path, name }) => ({ name, value: valueAt(written, path) }));
  const texts = values.flatMap(({ name, value }) => (typeof value === 'string' ? [{ name, value }] : []));
  const redact = createRedactor([...secretsOfConfig(config), ...texts]);
  const variables = new Map(config.fromEnvironment.map(({ path, name }) => [JSON.stringify(path), name]));
  const visit = (value: unknown, path: KeyPath): unknown => {
    const variable = variables.get(JSON.stringify(path));
    if (variable !== undefined) return `$${variable}`;
    if (Array.isArray(value)) return value.map((item, index) => visit(item, [...path, index]));
    if (typeof value === 'object' && value !== null) {
      return Object.fromEntries(
        Object.entries(value).map(([key, item]) => [key, visit(item, [...path, key])]),
      );
    }
    if (isSecretKey(path)) return '[secret]';
    return typeof value === 'string' ? redact(withoutCredentials(value)) : value;
  };
  return visit(written, []) as Shown;
}

/** `maskedConfig` as TOML text. */
export function showConfig(config: Config): string {
  return stringify(maskedConfig(config));
}

/** An address without its password and without the values of query parameters whose name speaks of a secret. */
function withoutCredentials(text: string): string {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return text;
  return text
    .replace(/^([^:]+:\/\/[^/@:]*):[^/]+@/, '$1:[secret]@')
    .replace(/([?&][^=&#]*(?:key|token|secret|auth|pass|sig)[^=&#]*=)[^&#]*/gi, '$1[secret]');
}
