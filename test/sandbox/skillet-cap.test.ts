import { createBubblewrapSandbox } from '../../src/sandbox/bubblewrap/bubblewrap.ts';
import { createOffSandbox } from '../../src/sandbox/off.ts';
import { createVirtualSandbox } from '../../src/sandbox/virtual/virtual.ts';
import { bubblewrapHere } from '../support/bubblewrap-here.ts';
import { testSandboxCap } from '../support/sandbox-cap-contract.ts';

const { bwrap, skip } = bubblewrapHere;

testSandboxCap('bubblewrap', { skip, open: (limits) => createBubblewrapSandbox({ bwrap, limits }) });
testSandboxCap('off', {
  skip: process.platform !== 'linux' && 'commands without a sandbox run on Linux only',
  open: (limits) => createOffSandbox({ limits }),
  // As in bubblewrap.
  waits: false,
});
testSandboxCap('virtual', { open: (limits) => createVirtualSandbox(limits) });
