/** Files of `src` that decide, mark, forget, restore, verify, limit or parse, and the narrow tests of each. */
export type Area = Readonly<{ name: string; files: readonly string[]; tests: readonly string[] }>;

export const areas: readonly Area[] = [
  {
    name: 'access',
    files: ['decide-message', 'decide-skill', 'restricted-skills', 'ruling', 'taint-of', 'user-groups'].map(
      (file) => `access/${file}.ts`,
    ),
    tests: [
      'access/decide-message.test.ts',
      'access/decide-skill.test.ts',
      'access/ruling.test.ts',
      'access/taint-of.test.ts',
      'access/user-groups.test.ts',
      'access/user-groups-ready.test.ts',
    ],
  },
  {
    name: 'pairing',
    files: ['access/pairing.ts'],
    tests: ['access/pairing.test.ts', 'access/strangers.test.ts', 'access/claimed-token.test.ts'],
  },
  {
    name: 'approvals',
    files: [
      'runs/call-taint.ts',
      'runs/judge-calls.ts',
      'features/approvals/standing-rules.ts',
      'tools/policy.ts',
    ],
    tests: [
      'runs/asked-calls.test.ts',
      'runs/judge-calls.test.ts',
      'features/approvals/standing-rules.test.ts',
      'tools/matches-glob.test.ts',
      'tools/policy.test.ts',
      'tools/risk.test.ts',
    ],
  },
  {
    name: 'answers',
    files: [
      'core/plain-words.ts',
      'features/approvals/answer-by-text.ts',
      'conversations/parts-of-features.ts',
    ],
    tests: [
      'conversations/parts-of-features.test.ts',
      'core/plain-words.test.ts',
      'features/approvals/answer-by-text.test.ts',
    ],
  },
  {
    name: 'tools',
    files: ['allowed-entry', 'allowed-tools', 'bound-files', 'disallowed-tools', 'outside-tools'].map(
      (file) => `tools/${file}.ts`,
    ),
    tests: [
      'tools/allowed-lists.test.ts',
      'tools/allowed-tools.test.ts',
      'tools/bound-files.test.ts',
      'tools/disallowed-tools.test.ts',
      'tools/disallowed-words.test.ts',
      'tools/outside-tools.test.ts',
    ],
  },
  {
    name: 'call-tool',
    files: ['tools/call-tool.ts'],
    tests: ['tools/call-outcomes.test.ts', 'tools/call-tool.test.ts'],
  },
  {
    name: 'memory',
    files: ['features/memory/decide-memory.ts', 'features/memory/open-memory.ts', 'access/own-words.ts'],
    // Not decide-memory.test.ts: its millions of cases cost most of a minute for each change.
    tests: [
      'features/memory/memory-uses.test.ts',
      'features/memory/open-memory.test.ts',
      'access/own-words.test.ts',
      'access/typed-words.test.ts',
    ],
  },
  {
    name: 'forgetting',
    files: ['operator/forget-somebody.ts'],
    tests: [
      'operator/forget-places.test.ts',
      'operator/forget-somebody.test.ts',
      'operator/forget-waits.test.ts',
    ],
  },
  {
    name: 'archive',
    files: ['places-outside', 'read-archive', 'restore-archive'].map((file) => `operator/archive/${file}.ts`),
    tests: [
      'operator/places-outside.test.ts',
      'operator/read-archive.test.ts',
      'operator/restore-archive.test.ts',
    ],
  },
  { name: 'tar', files: ['lib/files/tar.ts'], tests: ['lib/tar.test.ts'] },
  {
    name: 'audit',
    files: [
      'seal',
      'audit-files',
      'audit-names',
      'create-audit',
      'export-audit',
      'meetings',
      'prune-audit',
      'sign-export',
    ].map((file) => `audit/${file}.ts`),
    tests: [
      'audit/audit-files.test.ts',
      'audit/audit.test.ts',
      'audit/create-audit.test.ts',
      'audit/export-audit.test.ts',
      'audit/seal.test.ts',
      'operator/forget-places.test.ts',
    ],
  },
  {
    name: 'budgets',
    files: ['limits/budgets.ts', 'limits/dollar-budgets.ts', 'limits/sums.ts', 'limits/costs.ts'],
    tests: [
      'limits/budgets.test.ts',
      'limits/each-limit.test.ts',
      'limits/dollar-budgets.test.ts',
      'limits/costs.test.ts',
    ],
  },
  {
    name: 'pace',
    files: ['channels/rate-limiter.ts'],
    tests: ['channels/rate-limiter.test.ts', 'channels/shared-rate-limits.test.ts'],
  },
  {
    name: 'hooks',
    files: ['features/hooks/verify-request.ts', 'features/hooks/receive-hook.ts'],
    tests: [
      'features/hooks/hook-answers.test.ts',
      'features/hooks/receive-hook.test.ts',
      'features/hooks/verify-request.test.ts',
    ],
  },
  {
    name: 'due times',
    files: ['features/routines/due-times.ts'],
    tests: ['features/routines/due-times.test.ts'],
  },
  {
    name: 'outcomes of routines',
    files: ['features/routines/settle-routine.ts'],
    tests: ['features/routines/settle-routine.test.ts'],
  },
  {
    name: 'times in words',
    files: ['read-day', 'read-every', 'read-span', 'read-when'].map((file) => `features/routines/${file}.ts`),
    tests: ['read-day', 'read-every', 'read-span', 'read-when', 'read-when-results'].map(
      (file) => `features/routines/${file}.test.ts`,
    ),
  },
  {
    name: 'network',
    files: ['judge-target', 'private-networks', 'proxy-for'].map((file) => `lib/net/${file}.ts`),
    tests: [
      'lib/is-public-address.test.ts',
      'lib/judge-target.test.ts',
      'lib/private-networks.test.ts',
      'lib/proxy-for.test.ts',
    ],
  },
  {
    name: 'redaction',
    files: ['lib/redaction/find-secrets.ts', 'lib/redaction/redact.ts'],
    tests: [
      'lib/find-secrets.test.ts',
      'lib/redact-deep.test.ts',
      'lib/redact.test.ts',
      'lib/secret-forms.test.ts',
    ],
  },
  {
    name: 'SKILL.md',
    files: [
      'front-from-data',
      'front-matter',
      'known-keys',
      'parse-skill',
      'read-fields',
      'read-restrictions',
      'read-values',
    ].map((file) => `skills/parse/${file}.ts`),
    tests: [
      'property/skills-front-matter.test.ts',
      'skills/each-key.test.ts',
      'skills/front-forms.test.ts',
      'skills/name-and-text.test.ts',
      'skills/parse-skill.test.ts',
      'skills/restricting-keys.test.ts',
      'skills/skill-needs.test.ts',
      'skills/validate-skill.test.ts',
    ],
  },
];
