/** Redaction of 1 MB with 50 secrets, and a policy decision over 100 rules: `node bench/redact.ts`. Printed, never judged. */
import { createHash } from 'node:crypto';
import { createRedaction } from '../src/lib/redaction/redact.ts';
import { decidePolicy } from '../src/tools/policy.ts';
import { quantile } from './statistics.ts';

const rounds = Number(process.env['SKILLET_BENCH_ROUNDS'] ?? 60);
const megabyte = 1_000_000;
const secrets = Array.from({ length: 50 }, (_, index) => ({
  name: `KEY_${index}`,
  value: `sk-${index}/${createHash('sha256')
    .update(`secret ${index}`)
    .digest('base64')
    .slice(0, 20 + index)}"ä ${index}`,
}));

const noise = Array.from({ length: megabyte / 64 }, (_, index) =>
  createHash('sha256').update(`line ${index}`).digest('hex'),
).join('');
const words =
  'The quick brown fox jumps over the lazy dog and says: {"key": "value", "list": [1, 2, 3]} at https://example.com/path?x=1.\n';
const texts: Readonly<Record<string, string>> = {
  'prose and JSON': words.repeat(megabyte / words.length + 1).slice(0, megabyte),
  'hex without line breaks': noise,
  'base64 in lines of 76': Buffer.from(noise.slice(0, 740_000))
    .toString('base64')
    .replace(/.{76}/g, '$&\n')
    .slice(0, megabyte),
  'a secret on every tenth line': words
    .repeat(megabyte / words.length + 1)
    .split('\n')
    .map((line, index) => (index % 10 === 0 ? (secrets[index % 50]?.value ?? '') + line : line))
    .join('\n')
    .slice(0, megabyte),
};

for (const [title, text] of Object.entries(texts)) {
  const { text: redact, textInParts } = createRedaction(secrets);
  print(
    `1 MB of ${title}`,
    timed(() => redact(text)),
  );
  print(
    '  in parts of 4 kB',
    timed(() => {
      const parts = textInParts();
      for (let at = 0; at < text.length; at += 4_096) parts.push(text.slice(at, at + 4_096));
      parts.end();
    }),
  );
}
print(
  'making ready for 50 secrets',
  timed(() => createRedaction(secrets)),
);

const policy = {
  ...({ safe: 'allow', moderate: 'allow', dangerous: 'confirm', critical: 'deny' } as const),
  rules: Array.from({ length: 100 }, (_, index) => ({
    tool: `mcp_server${index}_*`,
    skill: index % 3 === 0 ? 'dice' : undefined,
    chat: index % 5 === 0 ? 'telegram:-1' : undefined,
    sender: index % 2 === 0 ? 'telegram:42' : undefined,
    action: (['allow', 'confirm', 'deny'] as const)[index % 3] ?? 'deny',
  })),
};
const requester = {
  conversation: { channel: 'telegram', chat: '-1' },
  chatType: 'group',
  external: false,
  sender: 'telegram:42',
  kind: 'person',
} as const;
const decisions = 1_000;
const perDecision = timed(() => {
  for (let index = 0; index < decisions; index++)
    decidePolicy(policy, {
      tool: `mcp_server${index % 100}_do`,
      skill: 'dice',
      risk: 'dangerous',
      requester,
      marked: true,
    });
}).map((each) => each / decisions);
print('a policy decision over 100 rules', perDecision, 4);

function timed(work: () => unknown): readonly number[] {
  return Array.from({ length: rounds + 5 }, () => {
    const began = performance.now();
    work();
    return performance.now() - began;
  }).slice(5);
}

function print(title: string, times: readonly number[], digits = 2): void {
  const mean = times.reduce((sum, each) => sum + each, 0) / times.length;
  const [half, most] = [0.5, 0.95].map((share) => quantile(times, share).toFixed(digits));
  process.stdout.write(
    `  ${title.padEnd(36)} mean ${mean.toFixed(digits)} ms, p50 ${half} ms, p95 ${most} ms (${times.length})\n`,
  );
}
