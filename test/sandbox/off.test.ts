import { createOffSandbox } from '../../src/sandbox/off.ts';
import { testSandboxContract } from '../support/sandbox-contract.ts';
import { testSandboxLimits } from '../support/sandbox-limits-contract.ts';

testSandboxContract('off', {
  skip: process.platform !== 'linux' && 'limits are watched on Linux only',
  contains: false,
  open: (limits) => createOffSandbox({ limits }),
});

testSandboxLimits('off', {
  skip: process.platform !== 'linux' && 'limits are watched on Linux only',
  open: (limits) => createOffSandbox({ limits }),
});
