/**
 * Takes the pictures of the dashboard for docs/pictures: its real pages over a real bot, in Chromium. Only the model's
 * words are scripted. Usage: npm run pictures:dashboard
 */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { browserHere, openBrowser } from '../../test/support/browser.ts';
import { startDashboardScene } from '../../test/support/dashboard-scene.ts';

const folder = path.join(import.meta.dirname, '..', '..', 'docs', 'pictures');
const wide = { width: 1_100, height: 640 };
const shots = [
  { name: 'overview-light', page: '/', scheme: 'light', size: wide },
  { name: 'access-dark', page: '/access?chat=telegram%3A-1001', scheme: 'dark', size: wide },
  { name: 'approvals-narrow', page: '/approvals', scheme: 'light', size: { width: 390, height: 640 } },
] as const;

test('the pictures of the dashboard', { skip: browserHere.skip }, async (t) => {
  const { dashboard, asksForApproval } = await startDashboardScene(t);
  const tab = await openBrowser(t);
  const link = dashboard.newLink();
  await tab.open(link);
  await tab.until(`document.querySelector('h1')?.textContent === 'Overview'`);
  await asksForApproval();
  for (const { name, page, scheme, size } of shots) {
    await tab.show({ ...size, scheme });
    await tab.open(new URL(page, link).href);
    const height = await tab.look<number>('document.documentElement.scrollHeight');
    await tab.show({ ...size, height: Math.min(height, 1_400), scheme });
    await tab.look(`document.querySelector('details')?.setAttribute('open', '')`);
    const png = await tab.picture();
    assert.ok(png.length > 5_000);
    await writeFile(path.join(folder, `dashboard-${name}.png`), png);
  }
});
