import { createOffSandbox } from '../../src/sandbox/off.ts';
import { testSandboxContract } from '../support/sandbox-contract.ts';

testSandboxContract('off', {
  skip: process.platform !== 'linux' && 'limits are watched on Linux only',
  contains: false,
  open: (limits) => createOffSandbox({ limits }),
});
