import type { Store } from './store.ts';

/** Wraps a method of the store, or leaves it as it is (`same`). */
type Rule<Method> = (method: Method) => Method;

type RulesOf<Part> = {
  readonly [Name in keyof Part]: Part[Name] extends (...args: never) => unknown
    ? Rule<Part[Name]>
    : RulesOf<Part[Name]>;
};

/** What to do with each method. A new method of the store does not compile without a rule. */
export type StoreRules = RulesOf<Store>;

export function aroundStore(store: Store, rules: StoreRules): Store {
  return around(store, rules) as Store;
}

function around(part: object, rules: object): object {
  const methods = new Map<string, unknown>(Object.entries(part));
  const entries = Object.entries(rules).map(([name, rule]: [string, unknown]) => {
    const method = methods.get(name);
    return [
      name,
      typeof rule === 'function' ? (rule as Rule<unknown>)(method) : around(method as object, rule as object),
    ];
  });
  return Object.fromEntries(entries) as object;
}

export function same<Name extends string>(
  ...names: readonly Name[]
): Readonly<Record<Name, <Method>(method: Method) => Method>> {
  return Object.fromEntries(names.map((name) => [name, <Method>(method: Method) => method])) as ReturnType<
    typeof same<Name>
  >;
}
