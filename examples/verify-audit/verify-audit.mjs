#!/usr/bin/env node
// Checks an export of the audit: node verify-audit.mjs EXPORT PUBLIC_KEY [EARLIER_EXPORT]
// It needs Node alone: neither the bot, nor its store, nor its secret key.
import { Buffer } from 'node:buffer';
import { createHash, createPublicKey, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';

const sha256 = (data) => createHash('sha256').update(data).digest('hex');
const fromBase64 = (text) => Buffer.from(text, 'base64').toString('utf8');
const recordOf = (line) => JSON.parse(line).resourceLogs[0].scopeLogs[0].logRecords[0];

/** The three forms of an export: how the signed proof is written in its last line, and a line of the record. */
const forms = {
  csv: {
    proof: (last) => fromBase64(last.split(',')[1]),
    read(text) {
      // The first cell and the last two have no commas in them.
      const cells = text.split(',');
      const [hash, line] = cells.slice(-2);
      return { seq: Number(cells[0]), hash, line: line === '' ? undefined : fromBase64(line) };
    },
  },
  otlp: {
    proof: (last) => recordOf(last).body.stringValue,
    read(text) {
      const { attributes, body } = recordOf(text);
      const of = (key) => attributes.find((one) => one.key === key)?.value;
      const hash = of('skillet.audit.sha256')?.stringValue;
      return { seq: Number(of('skillet.audit.seq')?.intValue), hash, line: body?.stringValue };
    },
  },
  jsonl: {
    proof: (last) => last,
    read(text) {
      const { seq, sha256: hash, mac } = JSON.parse(text);
      return mac === undefined ? { seq, hash } : { seq, line: text };
    },
  },
};

function readExport(file) {
  const bytes = readFileSync(file);
  const lines = bytes.toString('utf8').trimEnd().split('\n');
  const last = lines.pop();
  const name = last.startsWith('proof,') ? 'csv' : last.startsWith('{"resourceLogs"') ? 'otlp' : 'jsonl';
  if (name === 'csv') lines.shift();
  const { proof, signature } = JSON.parse(forms[name].proof(last));
  const text = bytes.subarray(0, bytes.lastIndexOf(last));
  return { proof, signature, text, lines: lines.map(forms[name].read) };
}

/** Returns what is wrong with an export, and the digest of the record after each line. */
function check(file, key) {
  const { proof: signed, signature, text, lines } = readExport(file);
  if (!verify(null, Buffer.from(signed), key, Buffer.from(signature, 'base64')))
    return { proof: {}, problems: ['its proof is not signed with this key'], digests: new Map() };
  const proof = JSON.parse(signed);
  const problems = [];
  if (sha256(text) !== proof.sha256) problems.push('its text is not the text that was signed');
  let digest = proof.before;
  const digests = new Map([[(proof.from ?? 1) - 1, digest]]);
  let next = proof.from;
  let shown = 0;
  for (const { seq, hash, line } of lines) {
    if (seq !== next) problems.push(`line ${seq} is where line ${next} belongs`);
    if (line !== undefined && hash !== undefined && hash !== sha256(line))
      problems.push(`line ${seq} was changed`);
    digest = sha256(digest + (line === undefined ? hash : sha256(line)));
    digests.set(seq, digest);
    next = seq + 1;
    if (line !== undefined) shown += 1;
  }
  if (digest !== proof.head) problems.push('its lines do not lead to the digest that was signed');
  if (shown !== proof.lines || lines.length !== proof.lines + proof.withheld)
    problems.push('lines are missing');
  for (const { file: where, line, problem } of proof.problems)
    problems.push(`the bot itself found: ${where || 'the audit'} line ${line} ${problem}`);
  return { proof, problems, digests };
}

const [file, keyFile, earlierFile] = process.argv.slice(2);
if (keyFile === undefined) {
  console.error('node verify-audit.mjs EXPORT PUBLIC_KEY [EARLIER_EXPORT]');
  process.exit(2);
}
const key = createPublicKey(readFileSync(keyFile));
const { proof, problems, digests } = check(file, key);
if (earlierFile !== undefined) {
  const earlier = check(earlierFile, key);
  problems.push(...earlier.problems.map((problem) => `${earlierFile}: ${problem}`));
  const { to, head } = earlier.proof;
  if (!digests.has(to)) problems.push(`it does not reach line ${to}, where ${earlierFile} ends`);
  else if (digests.get(to) !== head) problems.push(`up to line ${to} it differs from ${earlierFile}`);
}
for (const problem of problems) console.log(`WRONG: ${problem}`);
const { from, to, lines, withheld } = proof;
const range = from === undefined ? 'no lines' : `lines ${from} to ${to}`;
const said = `${file}: ${range}, ${lines} in words and ${withheld} as hashes, as the bot wrote them.`;
if (problems.length === 0) console.log(said);
process.exitCode = problems.length === 0 ? 0 : 1;
