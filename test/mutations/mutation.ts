/** One small change to safety code, and the test that has to notice it. */
export type Mutation = Readonly<{
  /** What the code does wrong then, in a few words. Unique. */
  name: string;
  /** Below `src/`. */
  file: string;
  /** Stands once in the file. */
  find: string;
  replace: string;
  /** Test file below `test/`. */
  test: string;
  /** Part of a test's name, if only those tests are to run: a file that starts processes takes long. */
  only?: string;
}>;
