import type { Secret } from '../core/redact.ts';
import type { Config } from './complete-config.ts';
import { formatKeyPath, type KeyPath } from './key-path.ts';
import { isSecretKey } from './secret-keys.ts';
import { writtenConfig } from './written-config.ts';

/** Every secret the config holds, named as the operator knows it, for redaction (S2, U3). */
export function secretsOfConfig(config: Config): readonly Secret[] {
  const variables = new Map(config.fromEnvironment.map(({ path, name }) => [JSON.stringify(path), name]));
  const secrets: Secret[] = [];
  const visit = (value: unknown, path: KeyPath): void => {
    if (typeof value === 'object' && value !== null) {
      const list = Array.isArray(value);
      for (const [key, item] of Object.entries(value)) visit(item, [...path, list ? Number(key) : key]);
      return;
    }
    const variable = variables.get(JSON.stringify(path));
    const foreign = variable !== undefined && ['tools', 'plugins', 'mcp'].includes(String(path[0]));
    if (isSecretKey(path) || foreign) {
      const name = path[0] === 'skills' ? String(path.at(-1)) : (variable ?? formatKeyPath(path));
      secrets.push({ name, value: String(value) });
    } else if (typeof value === 'string') {
      const password = passwordIn(value);
      if (password !== undefined) secrets.push({ name: `${formatKeyPath(path)} password`, value: password });
    }
  };
  visit(writtenConfig(config), []);
  return secrets;
}

function passwordIn(text: string): string | undefined {
  return /^[a-z][a-z0-9+.-]*:\/\/[^/@]*?:([^/]+)@/i.exec(text)?.[1];
}
