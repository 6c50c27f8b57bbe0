import { createBubblewrapSandbox } from '../../src/sandbox/bubblewrap.ts';
import { bubblewrapHere } from '../support/bubblewrap-here.ts';
import { testSandboxContract } from '../support/sandbox-contract.ts';

const { bwrap, skip } = bubblewrapHere;

testSandboxContract('bubblewrap', {
  skip,
  contains: true,
  open: (limits) => createBubblewrapSandbox({ bwrap, limits }),
});
