/** Something wrong or noteworthy with a file, said once with its place and its fix. */
export type Diagnostic = Readonly<{
  /** A note is nothing to mend: something could be had that is not asked for yet. */
  level: 'error' | 'warning' | 'note';
  /** A warning code of the specification (`SHADOWED`), or a short upper-case name of the problem. */
  code: string;
  message: string;
  /** File it is about, absolute where there is one. */
  path?: string;
  /** The front-matter field or config key it is about. */
  field?: string;
  /** 1-based. */
  line?: number;
}>;
