import type { KeyPath } from './key-path.ts';

const secretKeys = ['token', 'bot_token', 'app_token', 'signing_secret', 'webhook_secret', 'api_key'];
const secretWords = /token|secret|passw|passphrase|credential|keys?$|auth|cookie|private/i;

/** Whether what stands here is a secret by its key. Where keys are not ours, a word in the key decides. */
export function isSecretKey(path: KeyPath): boolean {
  const [section, name, third] = path;
  const below = path.slice(2).filter((part) => typeof part === 'string');
  if (section === 'skills' && typeof third === 'string') return /^[A-Z_][A-Z0-9_]*$/.test(third);
  if (section === 'mcp' && (third === 'env' || third === 'headers')) return path.length > 3;
  if (section === 'tools' || section === 'plugins') return below.some((part) => secretWords.test(part));
  if (section === 'models') return below.includes('api_key');
  return typeof name === 'string' && secretKeys.includes(name);
}
