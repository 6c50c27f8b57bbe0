/** Whether two issuers are the same. Only a slash at the end may differ, which writers of configs leave out. */
export function isSame(one: string, other: string | undefined): boolean {
  const plain = (text: string | undefined): string => text?.replace(/\/$/, '') ?? '';
  return plain(one) === plain(other);
}
