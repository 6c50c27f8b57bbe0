/**
 * Loaded before the files of the suite: properties try the same values in each run, so that a rare counterexample fails
 * nobody's change by chance. `SKILLET_SEED` names another seed. With `SKILLET_FUZZ_RUNS`, and in a file that is run
 * alone, values are new each time.
 */
import fc from 'fast-check';

if (process.env['SKILLET_FUZZ_RUNS'] === undefined)
  fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(process.env['SKILLET_SEED'] ?? 1) });
