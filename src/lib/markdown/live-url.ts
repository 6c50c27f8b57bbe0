const liveProtocols = new Set(['http:', 'https:', 'mailto:']);
const longestUrl = 2048;

/**
 * The address in its normal form when a link may lead there: an absolute http(s) or mailto address of at most 2,048
 * characters. Nothing for any other scheme, a relative address, one that hides its host behind a name (`good.com@evil.com`)
 * or nonsense: such a link is shown as text (H2).
 */
export function liveUrl(address: string): string | undefined {
  const url = URL.parse(address);
  if (url === null || !liveProtocols.has(url.protocol) || url.username !== '' || url.password !== '')
    return undefined;
  // Characters that end an address in Slack's own markup, which a query, a fragment or a mailto address may carry as they are.
  const href = url.href.replace(/[|<>"`\\^{}\s]/g, (character) => encodeURIComponent(character));
  return href.length > longestUrl ? undefined : href;
}
