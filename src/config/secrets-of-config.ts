import { stringify } from 'smol-toml';
import { createRedactor, type Secret } from '../lib/redaction/redact.ts';
import { writtenConfig, type Config } from './complete-config.ts';
import { formatKeyPath, valueAt, type KeyPath } from './section.ts';

const secretKeys = ['token', 'bot_token', 'app_token', 'signing_secret', 'webhook_secret', 'api_key'];

const secretWords = /token|secret|passw|passphrase|credential|keys?$|auth|cookie|private/i;

/** The config's secrets for redaction, each by the operator's name for it (S2, U3). */
export function secretsOfConfig(config: Config): readonly Secret[] {
  const variables = new Map(config.fromEnvironment.map(({ path, name }) => [JSON.stringify(path), name]));
  const secrets: Secret[] = [];
  const visit = (value: unknown, path: KeyPath): void => {
    if (typeof value === 'object' && value !== null) {
      const list = Array.isArray(value);
      for (const [key, item] of Object.entries(value))
        // A model may have no key, for example.
        if (item !== undefined) visit(item, [...path, list ? Number(key) : key]);
      return;
    }
    const variable = variables.get(JSON.stringify(path));
    const foreign = variable !== undefined && ['tools', 'plugins', 'mcp'].includes(String(path[0]));
    if (isSecretKey(path) || foreign) {
      const name = path[0] === 'skills' ? String(path.at(-1)) : (variable ?? formatKeyPath(path));
      secrets.push({ name, value: String(value) });
    } else if (typeof value === 'string') secrets.push(...secretsInAddress(formatKeyPath(path), value));
  };
  visit(writtenConfig(config), []);
  return secrets;
}

/** Those of the config's secrets that the file itself contains instead of a variable. */
export function literalSecrets(config: Config): readonly Secret[] {
  const written = writtenConfig(config);
  const given = config.fromEnvironment.map(({ path }) => String(valueAt(written, path)));
  return secretsOfConfig(config).filter(({ value }) => !given.some((one) => one.includes(value)));
}

/** Credentials in the environment's proxy variables (S2). */
export function secretsOfProxies(env: Readonly<Record<string, string | undefined>>): readonly Secret[] {
  return Object.entries(env).flatMap(([name, value = '']) =>
    /_proxy$/i.test(name) ? secretsInAddress(name, value) : [],
  );
}

/**
 * Secrets in an address, as written and decoded: the password, or for http a user name alone, and keys in the query.
 */
function secretsInAddress(name: string, text: string): readonly Secret[] {
  const [, scheme = '', user = '', password] =
    /^([a-z][a-z0-9+.-]*):\/\/([^/@:?#]*)(?::([^/]*))?@/i.exec(text) ?? [];
  const token = /^https?$/i.test(scheme) && user !== '' ? user : undefined;
  const inQuery = text.matchAll(/[?&][^=&#]*(?:key|token|secret|auth|pass|sig)[^=&#]*=([^&#]*)/gi);
  const found = [
    { name: `${name} password`, value: password ?? token },
    ...(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? [...inQuery] : []).map(([, value]) => ({
      name: `${name} query`,
      value,
    })),
  ];
  return found.flatMap(({ name: of, value }) =>
    value === undefined
      ? []
      : [...new Set([value, decoded(value)])].map((each) => ({ name: of, value: each })),
  );
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    // The text is not percent-encoded.
    if (error instanceof URIError) return text;
    throw error;
  }
}

/** Whether the value at a path is a secret. In tables with free keys, a word in the key decides. */
export function isSecretKey(path: KeyPath): boolean {
  const [section, name, third] = path;
  const below = path.slice(2).filter((part) => typeof part === 'string');
  if (section === 'skills' && typeof third === 'string') return /^[A-Z_][A-Z0-9_]*$/.test(third);
  if (section === 'mcp' && (third === 'env' || third === 'headers')) return path.length > 3;
  if (section === 'mcp') return third === 'client_secret';
  if (section === 'tools' || section === 'plugins') return below.some((part) => secretWords.test(part));
  if (section === 'hooks') return third === 'secret';
  if (section === 'models') return below.includes('api_key');
  return typeof name === 'string' && secretKeys.includes(name);
}

type Shown = Readonly<Record<string, unknown>>;

/** The config for `config show` (G5): variables as `$NAME`, other secrets as `[secret]`, also within addresses. */
export function maskedConfig(config: Config): Shown {
  const written = writtenConfig(config);
  // The value of a variable may occur again in values derived from it.
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

export function showConfig(config: Config): string {
  return stringify(maskedConfig(config));
}

/** Masks the password and secret query parameters of an address. */
function withoutCredentials(text: string): string {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return text;
  return text
    .replace(/^([^:]+:\/\/[^/@:]*):[^/]+@/, '$1:[secret]@')
    .replace(/([?&][^=&#]*(?:key|token|secret|auth|pass|sig)[^=&#]*=)[^&#]*/gi, '$1[secret]');
}
