import { createBubblewrapSandbox } from '../../src/sandbox/bubblewrap/bubblewrap.ts';
import { bubblewrapHere } from '../support/bubblewrap-here.ts';
import { testSandboxContract } from '../support/sandbox-contract.ts';
import { testSandboxLimits } from '../support/sandbox-limits-contract.ts';

const { bwrap, skip } = bubblewrapHere;

testSandboxContract('bubblewrap', {
  skip,
  contains: true,
  open: (limits) => createBubblewrapSandbox({ bwrap, limits }),
});

testSandboxLimits('bubblewrap', {
  skip,
  open: (limits) => createBubblewrapSandbox({ bwrap, limits }),
});
