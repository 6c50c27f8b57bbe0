/** The URL as the platform keeps it (`telegram.org` becomes `http://telegram.org/`), or nothing where it is none. */
export function checkedLink(text: string): string | undefined {
  const url = text.trim();
  if (url === '' || /\s/.test(text)) return undefined;
  const found = /^(?:([a-z][a-z0-9+.-]*):\/\/)?([^/?#\s]+)([/?#]\S*)?$/i.exec(url);
  if (found === null) return /^(?:mailto|tel):\S+$/i.test(url) ? url : undefined;
  const [, protocol = 'http', host = '', rest = ''] = found;
  const scheme = protocol.toLowerCase();
  if (!['http', 'https', 'ftp', 'tg', 'ton', 'tonsite'].includes(scheme)) return undefined;
  if (
    scheme !== 'tg' &&
    !/^(?:[^@]*@)?(?:[^.\s:]+\.)+[^.\s:]{2,}(?::\d+)?$|^localhost(?::\d+)?$|^\d+(?:\.\d+){3}(?::\d+)?$/u.test(
      host,
    )
  ) {
    return undefined;
  }
  const path = rest.startsWith('/') || (scheme === 'tg' && rest === '') ? rest : `/${rest}`;
  return `${scheme}://${host.toLowerCase()}${path}`;
}
