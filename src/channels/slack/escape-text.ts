/** Text that Slack shows as it is: no mention, link or `<!channel>` can come of it (H2). */
export function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
