import path from 'node:path';

export type SourceAddress = Readonly<
  | {
      kind: 'git';
      transport: 'https' | 'http' | 'ssh' | 'file';
      /** The address of the repository, which contains no password. */
      url: string;
    }
  | { kind: 'folder'; /** The absolute path. */ path: string }
>;

type AddressReading = Readonly<{ ok: true; address: SourceAddress } | { ok: false; problem: string }>;

/** Matches the name of a repository on GitHub: `owner/name`. */
export const repositoryName = /^[A-Za-z0-9][\w.-]*\/[A-Za-z0-9_][\w.-]*$/;

/** The text of an address, by which it is shown, stored and compared. */
export function addressText(address: SourceAddress): string {
  return address.kind === 'git' ? address.url : address.path;
}

/** Reads `owner/name`, a git URL, or a folder that begins with `.`, `/` or `~`. */
export function readAddress(
  text: string,
  { cwd, home }: Readonly<{ cwd: string; home: string }>,
): AddressReading {
  if (/^(?:\.{1,2}(?:\/|$)|\/|~(?:\/|$))/.test(text)) {
    const folder = path.resolve(
      cwd,
      text.replace(/^~/, () => home),
    );
    return isShowable(folder) ? { ok: true, address: { kind: 'folder', path: folder } } : refused(unshowable);
  }
  return repositoryName.test(text) ? { ok: true, address: repositoryAddress(text) } : readGitUrl(text);
}

export function repositoryAddress(repo: string): SourceAddress {
  return { kind: 'git', transport: 'https', url: `https://github.com/${repo}` };
}

/**
 * Reads a git URL: https, ssh, `file://`, or http on this machine. A refusal does not quote it, because it may contain
 * a password.
 */
export function readGitUrl(text: string): AddressReading {
  if (text.startsWith('-') || !isShowable(text) || text.length > 2_000) return refused(unshowable);
  if (/^[A-Za-z0-9_][\w.-]*@[A-Za-z0-9][\w.-]*:(?!\/\/)[^-\s][^\s]*$/.test(text))
    return { ok: true, address: { kind: 'git', transport: 'ssh', url: text } };
  const url = URL.parse(text);
  const transport = url?.protocol.slice(0, -1);
  if (url === null || transport === undefined || /^[a-z+.-]+::/i.test(text) || !text.includes('://'))
    return refused(
      'write owner/name, a URL that begins with https:// or ssh://, or a folder such as ./skills',
    );
  if (url.password !== '' || (url.username !== '' && transport !== 'ssh'))
    return refused(
      'a URL must hold no user or password, since it is shown and kept: use ssh, or ~/.netrc for https',
    );
  if (url.search !== '' || url.hash !== '') return refused('a URL must have no "?" or "#"');
  if (url.hostname.startsWith('-') || url.username.startsWith('-') || url.pathname.startsWith('/-'))
    return refused('neither host nor path may begin with "-"');
  const isHere = ['localhost', '[::1]'].includes(url.hostname) || /^127(?:\.\d+){3}$/.test(url.hostname);
  if (transport === 'http' && !isHere)
    return refused('http is for this machine only (localhost): write https://');
  if (transport === 'file' && url.host !== '') return refused('write file:///path, without a host');
  if (transport !== 'https' && transport !== 'http' && transport !== 'ssh' && transport !== 'file')
    return refused('only https, ssh, and for this machine file:// and http are taken');
  const [plain = ''] = /^.*?(?=\/*$)/s.exec(url.href) ?? [];
  return { ok: true, address: { kind: 'git', transport, url: plain } };
}

/** What is wrong with the name of a branch, tag or commit; undefined if nothing is. */
export function refProblem(ref: string): string | undefined {
  const valid =
    /^[A-Za-z0-9][\w./+-]*$/.test(ref) && !/\.\.|\/\/|\.lock$|[./]$/.test(ref) && ref.length <= 250;
  return valid ? undefined : 'write the name of a branch or tag, or a commit in 40 hex digits';
}

const unshowable =
  'this can be no address: it begins with "-", is too long, or holds characters that can\'t be shown';

function isShowable(text: string): boolean {
  return !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u.test(text);
}

function refused(problem: string): AddressReading {
  return { ok: false, problem };
}
