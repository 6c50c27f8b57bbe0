import { createBubblewrapSandbox } from '../../src/sandbox/bubblewrap/bubblewrap.ts';
import { bubblewrapHere } from '../support/bubblewrap-here.ts';
import { testSandboxNetwork } from '../support/sandbox-network-contract.ts';

const { bwrap, skip } = bubblewrapHere;

testSandboxNetwork('bubblewrap', {
  skip,
  open: (limits, wayOut) => createBubblewrapSandbox({ bwrap, limits, wayOut }),
});
