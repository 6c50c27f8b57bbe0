import assert from 'node:assert/strict';
import { test } from 'node:test';
import { risks, type Traits } from '../../src/core/tool.ts';
import { reachesOutside, riskInSandbox, riskOf } from '../../src/tools/policy.ts';

test('T7 risk follows from the traits, is critical only when declared, and a declared one stands', () => {
  const flags = [false, true];
  for (const sideEffects of flags) {
    for (const requiresNetwork of flags) {
      for (const requiresFilesystem of flags) {
        for (const idempotent of flags) {
          const traits: Traits = { sideEffects, idempotent, requiresNetwork, requiresFilesystem };
          const outward = requiresNetwork || requiresFilesystem;
          assert.equal(riskOf({ traits }), sideEffects ? (outward ? 'dangerous' : 'moderate') : 'safe');
          for (const risk of risks) assert.equal(riskOf({ traits, risk }), risk);
        }
      }
    }
  }
});

test('T7 scripts are moderate in a sandbox without network, dangerous with it, critical without a sandbox', () => {
  assert.equal(riskInSandbox({ mode: 'virtual', reachesNetwork: false }), 'moderate');
  assert.equal(riskInSandbox({ mode: 'bubblewrap', reachesNetwork: true }), 'dangerous');
  assert.equal(riskInSandbox({ mode: 'off', reachesNetwork: false }), 'critical');
});

test('S7 a command reaches outside with a network, and without a sandbox', () => {
  assert.equal(reachesOutside({ mode: 'bubblewrap', reachesNetwork: false }), false);
  assert.equal(reachesOutside({ mode: 'bubblewrap', reachesNetwork: true }), true);
  assert.equal(reachesOutside({ mode: 'off', reachesNetwork: false }), true);
});
