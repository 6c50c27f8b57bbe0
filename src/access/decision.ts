/** The answer of `decideMessage` and `decideSkill`. `reason` is for the operator, `hint` may be shown to the person. */
export type Decision<Code extends string = string> =
  Readonly<{ allowed: true }> | Readonly<{ allowed: false; code: Code; reason: string; hint?: string }>;
