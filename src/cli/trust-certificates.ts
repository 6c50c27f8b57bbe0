import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { OperatorError } from '../core/errors.ts';
import { operatorText } from '../core/operator-text.ts';

/**
 * Trusts the certificates of a PEM file besides the usual ones (G5). Node itself reads `NODE_EXTRA_CA_CERTS` of its
 * environment, so this is for files that are named elsewhere. `setting` says where, for the error. Throws
 * OperatorError.
 */
export function trustCertificates(file: string, setting: string): void {
  // Loaded late, because most processes don't need it.
  const { getCACertificates, setDefaultCACertificates } = process.getBuiltinModule('node:tls');
  setDefaultCACertificates([...getCACertificates('default'), ...readCertificates(file, setting)]);
  // git learns the file from this variable (`caBundle`).
  process.env['NODE_EXTRA_CA_CERTS'] = file;
}

function readCertificates(file: string, setting: string): readonly string[] {
  const wrong = (why: string, cause?: unknown): OperatorError =>
    new OperatorError(`${setting} ${file} ${why}: name a PEM file of certificates.`, { cause });
  let text: string;
  try {
    text = operatorText(readFileSync(file), file);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    throw wrong(`can't be read (${String(error.code)})`, error);
  }
  const found = text.match(/-----BEGIN CERTIFICATE-----[^]*?-----END CERTIFICATE-----/g) ?? [];
  if (found.length === 0) throw wrong('holds no certificate');
  for (const one of found)
    try {
      new X509Certificate(one);
    } catch (error) {
      throw wrong('holds a certificate that is damaged', error);
    }
  return found;
}
