import { createHmac, createPrivateKey, createPublicKey, sign, type KeyObject } from 'node:crypto';
import type { AuditReport } from './seal.ts';

/** What an export says about itself. Its signature covers every byte of the file (L18). */
export type ExportProof = Readonly<{
  format: 1;
  skillet: string;
  /** Name of the chain. Another one has another key. */
  chain: string;
  made: string;
  /** What was asked for: ISO times, and a person's id. */
  since: string | undefined;
  until: string | undefined;
  person: string | undefined;
  /** Numbers of the first and the last line; undefined if there is none in this time. */
  from: number | undefined;
  to: number | undefined;
  /** How many lines the file has in words, and of how many it has only the hash. */
  lines: number;
  withheld: number;
  /** Digests of the record before the first line and up to the last one. */
  before: string;
  head: string;
  /** How many lines the record had behind the last one. */
  later: number;
  /** What the bot found when it checked its own record, seals included. */
  problems: AuditReport['problems'];
  /** Ids of people and chats by their pseudonyms, without those who were forgotten. */
  names: Readonly<Record<string, string>>;
  /** SHA-256 of all bytes of the file before the line with this proof. */
  sha256: string;
}>;

/** RFC 8410: what stands before the 32 bytes of an Ed25519 key in PKCS #8. */
const pkcs8 = Buffer.from('302e020100300506032b657004220420', 'hex');

/** Signs exports. It is made from the audit's key, so a backup of that is enough. */
function signingKey(key: Buffer): KeyObject {
  const seed = createHmac('sha256', key).update('sign exports').digest();
  return createPrivateKey({ key: Buffer.concat([pkcs8, seed]), format: 'der', type: 'pkcs8' });
}

/** The public key of exports as PEM, which anybody may have. */
export function publicKeyOf(key: Buffer): string {
  return createPublicKey(signingKey(key)).export({ type: 'spki', format: 'pem' }).toString();
}

/** The JSON of a signed proof. The signature is over the text of `proof`, so nobody has to write JSON as we do. */
export function signedProof(key: Buffer, proof: ExportProof): string {
  const text = JSON.stringify(proof);
  const signature = sign(null, Buffer.from(text), signingKey(key)).toString('base64');
  return JSON.stringify({ proof: text, signature });
}
