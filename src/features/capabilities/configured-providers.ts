import type { Config } from '../../config/complete-config.ts';
import { namespaceForm, type BridgeProvider } from '../../core/bridge-provider.ts';

export type ConfiguredProviders = Readonly<{
  get(namespace: string): BridgeProvider | undefined;
  /** All providers in use, sorted by namespace. */
  all: readonly BridgeProvider[];
  /** What is wrong in the config, in words for the operator. */
  problems: readonly string[];
}>;

/** Providers that are enabled together with their bundled skill (C1, C9). */
const presets: Readonly<Record<string, BridgeProvider>> = {
  gog: { namespace: 'gog', command: ['gogcli', 'bridge'], timeoutSeconds: 30 },
};

/**
 * The providers in use. `[capabilities.providers.NAMESPACE]` wins over `[skills.NAME.capability_provider]`, which wins
 * over presets, then plugins (C1, X1). What is disabled stays disabled. If two skills claim a namespace, neither gets
 * it.
 */
export function configuredProviders(
  { capabilities, skills }: Config,
  ofPlugins: readonly BridgeProvider[] = [],
): ConfiguredProviders {
  const problems: string[] = [];
  const found = new Map(ofPlugins.map((provider) => [provider.namespace, provider]));
  const claimed = new Map<string, string>();

  for (const [name, { enabled, capabilityProvider: own }] of Object.entries(skills.byName)) {
    const preset = Object.hasOwn(presets, name) ? presets[name] : undefined;
    // A preset has to be enabled; a provider that the config names is on by default.
    const wired = own === undefined ? preset !== undefined && enabled === true : enabled !== false;
    if (!wired || own?.enabled === false) continue;
    const where = `[skills.${name}.capability_provider]`;
    const namespace = own?.namespace ?? preset?.namespace ?? name;
    const command = own?.command ?? preset?.command;
    if (command === undefined) {
      problems.push(`${where} has no command`);
      continue;
    }
    if (!namespaceForm.test(namespace)) {
      problems.push(`${where}: "${namespace}" is no namespace: write namespace = "name" in small letters`);
      continue;
    }
    const other = claimed.get(namespace);
    if (other !== undefined) {
      problems.push(`${where} and [skills.${other}] both bring the namespace ${namespace}: neither is used`);
      found.delete(namespace);
      continue;
    }
    claimed.set(namespace, name);
    const timeoutSeconds = own?.timeoutSeconds ?? preset?.timeoutSeconds ?? defaultSeconds;
    found.set(namespace, { namespace, command, timeoutSeconds });
  }

  for (const [namespace, table] of Object.entries(capabilities.providers)) {
    const { enabled, namespace: said = namespace, command, timeoutSeconds } = table;
    found.delete(namespace);
    if (!enabled) continue;
    const preset = Object.hasOwn(presets, namespace) ? presets[namespace] : undefined;
    const program = command ?? preset?.command;
    const where = `[capabilities.providers.${namespace}]`;
    if (said !== namespace)
      problems.push(`${where} says namespace = "${said}": call the table [capabilities.providers.${said}]`);
    else if (program === undefined) problems.push(`${where} has no command`);
    else if (!namespaceForm.test(namespace))
      problems.push(`${where} is no namespace: small letters, digits, "-" and "_"`);
    else found.set(namespace, { namespace, command: program, timeoutSeconds });
  }

  const all = [...found.values()].sort((a, b) => (a.namespace < b.namespace ? -1 : 1));
  return { get: (namespace) => found.get(namespace), all, problems };
}

const defaultSeconds = 30;

export function namespaceOf(capability: string): string {
  return capability.slice(0, Math.max(0, capability.indexOf('.')));
}
