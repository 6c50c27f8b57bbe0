/** What of the host's environment a provider gets: where programs and its own files are, and nothing that may be a secret (C2). */
const passed = ['PATH', 'HOME', 'USER', 'LANG', 'TZ', 'TMPDIR'];

/** The whole environment of a bridge: those, and the public key that its tokens are checked with, as a JWK (C3). */
export function bridgeEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  publicJwk: string,
): Readonly<Record<string, string>> {
  const kept = passed.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]] as const]));
  return { ...Object.fromEntries(kept), SKILLET_PUBLIC_JWK: publicJwk };
}
