import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { OperatorError } from '../core/errors.ts';
import { createWhole } from '../lib/files/create-whole.ts';
import type { CapabilityRecords } from '../store/capability-records.ts';

export type CapabilityKey = Readonly<{
  /** Encrypts data as JSON, bound to `of`, so that it can't be opened as another row. */
  seal(data: unknown, of: string): string;
  /** Decrypts data. Throws if key or `of` are others, or the data was altered. */
  open(sealed: string, of: string): unknown;
  hash(text: string): string;
  /** A seed of 32 bytes for signing. Processes that share the key file sign alike (C3). */
  signingSeed: Buffer;
}>;

type KeyRecords = Pick<CapabilityRecords, 'claimKey' | 'keyCheck'>;

const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;

/**
 * Opens the key file. If the store has nothing encrypted, the file is created with mode 0600. All processes on one
 * store need the same key. Throws OperatorError if the key is wrong, readable by others, or missing although accounts
 * exist.
 */
export async function openCapabilityKey(file: string, records: KeyRecords): Promise<CapabilityKey> {
  const secret = readKey(file) ?? ((await records.keyCheck()) === undefined ? makeKey(file) : undefined);
  const share =
    'Copy the key file of the process that sealed them (0600), or let all processes name one file in [capabilities] key_file.';
  if (secret === undefined)
    throw new OperatorError(
      `${file} is missing, and the accounts in the store are sealed with a key that this process does not have. ${share}`,
    );
  const derive = (purpose: string): Buffer =>
    Buffer.from(hkdfSync('sha256', secret, '', `skillet capabilities ${purpose}`, keyBytes));
  const check = derive('check').toString('hex').slice(0, 32);
  if ((await records.claimKey(check)) !== check)
    throw new OperatorError(`The accounts in the store are sealed with another key than ${file}. ${share}`);
  const sealing = derive('seal');
  const hashing = derive('hash');

  return {
    seal(data, of) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv('aes-256-gcm', sealing, nonce).setAAD(Buffer.from(of));
      const sealed = Buffer.concat([cipher.update(JSON.stringify(data), 'utf8'), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64');
    },
    open(sealed, of) {
      const bytes = Buffer.from(sealed, 'base64');
      const decipher = createDecipheriv('aes-256-gcm', sealing, bytes.subarray(0, nonceBytes), {
        authTagLength: tagBytes,
      })
        .setAAD(Buffer.from(of))
        .setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
      const text = Buffer.concat([decipher.update(bytes.subarray(nonceBytes + tagBytes)), decipher.final()]);
      return JSON.parse(text.toString('utf8')) as unknown;
    },
    hash: (text) => createHmac('sha256', hashing).update(text).digest('hex'),
    signingSeed: derive('sign'),
  };
}

/** Opens the key when it is first needed. A failure is tried again at the next call. */
export function capabilityKeyOnce(file: () => string, records: KeyRecords): () => Promise<CapabilityKey> {
  const kept: { key?: Promise<CapabilityKey> } = {};
  return () => {
    if (kept.key !== undefined) return kept.key;
    const opened = openCapabilityKey(file(), records);
    kept.key = opened;
    opened.catch(() => {
      if (kept.key === opened) delete kept.key;
    });
    return opened;
  };
}

function readKey(file: string): Buffer | undefined {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined) return undefined;
  if ((found.mode & 0o077) !== 0)
    throw new OperatorError(`${file} can be read by others: chmod 600 it. It opens everybody's accounts.`);
  const key = Buffer.from(readFileSync(file, 'utf8').trim(), 'base64');
  if (key.length !== keyBytes)
    throw new OperatorError(`${file} holds no key: it has to be ${keyBytes} bytes in base64.`);
  return key;
}

/** Makes a key. If another process was faster, returns that one's key. */
function makeKey(file: string): Buffer | undefined {
  const key = randomBytes(keyBytes);
  return createWhole(file, `${key.toString('base64')}\n`) ? key : readKey(file);
}
