import { readFileSync } from 'node:fs';
import path from 'node:path';
import { installation } from '../lib/files/installation.js';

const place = path.join(installation, 'app-manifest.yaml');

/** The manifest of the Slack app, and the link to a page that makes an app of it. */
export function slackManifest(): Readonly<{ path: string; text: string; link: string }> {
  const text = readFileSync(place, 'utf8');
  // Comments would only make the address longer.
  const bare = text
    .split('\n')
    .map((line) => line.replace(/(^|\s+)#.*$/, ''))
    .filter((line) => line.trim() !== '')
    .join('\n');
  const link = `https://api.slack.com/apps?new_app=1&manifest_yaml=${encodeURIComponent(bare)}`;
  return { path: place, text, link };
}
