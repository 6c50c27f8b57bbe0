import { isIP } from 'node:net';
import { z } from 'zod';
import { readTarget } from '../lib/net/judge-target.ts';
import { mayReachWith, wrongNetwork } from '../lib/net/private-networks.ts';
import { hostPattern, httpUrl, section, type Complain } from './section.ts';

/** `[network]`: how the bot itself reaches the internet. */
export const networkSection = section({
  proxy: httpUrl.optional(),
  ca_file: z.string().min(1).optional(),
  proxy_resolves: z.boolean().default(false),
});

export const privateNetwork = z.string().superRefine((entry, context) => {
  const wrong = wrongNetwork(entry);
  if (wrong !== undefined) context.addIssue({ code: 'custom', message: wrong });
});

/**
 * A target that a skill's commands may reach because the operator says so: a host pattern, a name in the local network
 * or an address, with or without a port.
 */
export const networkTarget = z.string().refine(
  (written) => {
    const { host, port } = readTarget(written);
    const isPort = port === undefined || (port > 0 && port <= 65_535);
    const isName = hostPattern.safeParse(host).success || /^[a-z0-9][a-z0-9-]*$/i.test(host);
    return isPort && (isIP(host) !== 0 || (isName && /[a-z]/i.test(host)));
  },
  { error: 'write a host such as "pypi.org", "*.example.com", "jira.corp.example:8443" or "10.0.0.7"' },
);

/** Complains of a skill's address that `private_networks` does not allow. The table's sections are already decoded. */
export function checkSkillAddresses(table: Readonly<Record<string, unknown>>, complain: Complain): void {
  const networks = listIn(table['sandbox'], 'privateNetworks');
  const mayReach = mayReachWith(networks.filter((entry) => wrongNetwork(entry) === undefined));
  for (const [name, skill] of Object.entries(skillsIn(table['skills'])))
    listIn(skill, 'network').forEach((written, index) => {
      const { host } = readTarget(written);
      if (isIP(host) !== 0 && !mayReach(host, host))
        complain(
          ['skills', name, 'network', index],
          `the address is in a private network: list it in [sandbox] private_networks, such as ["${host}"]`,
        );
    });
}

function skillsIn(skills: unknown): Readonly<Record<string, unknown>> {
  return Object(Reflect.get(Object(skills) as object, 'byName')) as Readonly<Record<string, unknown>>;
}

function listIn(table: unknown, key: string): readonly string[] {
  const value: unknown = typeof table === 'object' && table !== null ? Reflect.get(table, key) : undefined;
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}
