import type { Store } from './store.ts';

/** Makes a method of a method: wraps it, or leaves it as it is (`same`). */
type Rule<Method> = (method: Method) => Method;

type RulesOf<Part> = {
  readonly [Name in keyof Part]: Part[Name] extends (...args: never) => unknown
    ? Rule<Part[Name]>
    : RulesOf<Part[Name]>;
};

/** One rule for each method of the store and of its parts: a new method does not compile without one. */
export type StoreRules = RulesOf<Store>;

/** The store with a rule around each method. A method without a rule is absent. */
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

/** Leaves these methods as they are. */
export function same<Name extends string>(
  ...names: readonly Name[]
): Readonly<Record<Name, <Method>(method: Method) => Method>> {
  return Object.fromEntries(names.map((name) => [name, <Method>(method: Method) => method])) as ReturnType<
    typeof same<Name>
  >;
}
