import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { browserHere, openBrowser, type Tab } from '../support/browser.ts';
import { startDashboardScene } from '../support/dashboard-scene.ts';
import { everyPage } from '../support/visit-dashboard.ts';

const addresses = [
  ...everyPage,
  '/access?person=telegram%3A7',
  '/playground?person=telegram%3A42&chat=telegram%3A-1001',
  '/playground?person=telegram%3A7&addressed=yes',
  '/audit?check=whole',
  '/skill?name=research',
  '/person?id=telegram%3A4000001',
];
const wide = { width: 1_200, height: 900 };
const narrow = { width: 340, height: 700 };
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

test(
  'S8 in a real browser: light, dark, narrow, by keyboard alone, live',
  { skip: browserHere.skip },
  async (t) => {
    const { dashboard, asksForApproval } = await startDashboardScene(t);
    const tab = await openBrowser(t);
    const link = dashboard.newLink();
    const { origin } = new URL(link);
    await tab.show({ ...wide, scheme: 'light' });
    await tab.open(link);
    await tab.until(`location.pathname === '/' && document.querySelector('h1')?.textContent === 'Overview'`);
    assert.equal(await tab.look('document.cookie'), '', 'scripts can read the session');

    await t.test('a page changes by itself', async () => {
      await tab.open(`${origin}/approvals`);
      await tab.until(`document.body.textContent.includes('Nothing waits for a yes')`);
      await tab.look('window.stays = true');
      await asksForApproval();
      await tab.until(`document.body.textContent.includes('write_file')`);
      assert.equal(await tab.look('window.stays'), true);
    });

    await tab.open(`${origin}/conversations`);
    const conversation = await tab.look<string>(`document.querySelector('td a').getAttribute('href')`);
    const all = [...addresses, conversation];

    for (const [scheme, size] of [
      ['light', wide],
      ['dark', wide],
      ['light', narrow],
      ['dark', narrow],
    ] as const)
      await t.test(`axe finds nothing, and all can be read, ${scheme}, ${size.width} px`, async () => {
        await tab.show({ ...size, scheme });
        for (const address of all) {
          await tab.open(origin + address);
          await tab.look(`document.querySelectorAll('details').forEach((one) => (one.open = true))`);
          assert.deepEqual(await tab.look(faintTexts), [], `${address} ${scheme}`);
          assert.deepEqual(await tab.look(wrongStructure), [], address);
          assert.deepEqual(await nameless(tab), [], address);
          assert.deepEqual(await tab.look(`${axe};${violations}`), [], `${address} ${scheme}`);
        }
      });

    await t.test('the menu opens in a narrow window without a script, and nothing in it jumps', async () => {
      await tab.show({ ...narrow, scheme: 'light' });
      await tab.open(`${origin}/audit`);
      assert.equal(await tab.look(`document.getElementById('menu').checkVisibility()`), false);
      await tab.look(`document.getElementById('fold').focus()`);
      await tab.press('Enter');
      assert.equal(await tab.look(`document.getElementById('menu').checkVisibility()`), true);
      assert.deepEqual(await tab.look(`${axe};${violations}`), []);
      await tab.show({ ...wide, scheme: 'light' });
      const places = new Set<string>();
      for (const address of everyPage) {
        await tab.open(origin + address);
        places.add(
          await tab.look<string>(
            `JSON.stringify([...document.querySelectorAll('#menu a, h1')].map((one) => one.getBoundingClientRect()).map(({ x, y }) => [x, y]))`,
          ),
        );
      }
      assert.equal(places.size, 1, [...places].join('\n'));
    });

    await t.test(
      'a question before something is removed can be read, and answered by the keyboard',
      async () => {
        for (const scheme of ['light', 'dark'] as const) {
          await tab.show({ ...wide, scheme });
          await tab.open(`${origin}/routines`);
          await tab.look(`document.querySelector('td button.danger').focus()`);
          await tab.press('Enter');
          await tab.until(`document.querySelector('h1')?.textContent.startsWith('Remove the routine')`);
          assert.deepEqual(await tab.look(faintTexts), []);
          assert.deepEqual(await tab.look(wrongStructure), []);
          assert.deepEqual(await tab.look(`${axe};${violations}`), []);
        }
        await tab.look(`document.querySelector('main a.button').click()`);
        await tab.until(
          `location.pathname === '/routines' && document.querySelectorAll('tbody tr').length === 1`,
        );
      },
    );

    await t.test('nothing is wider than a narrow window', async () => {
      await tab.show({ ...narrow, scheme: 'light' });
      for (const address of addresses) {
        await tab.open(origin + address);
        const [page, window] = await tab.look<[number, number]>(
          '[document.scrollingElement.scrollWidth, innerWidth]',
        );
        assert.ok(page <= window, `${address} is ${page} wide`);
      }
      await tab.show({ ...wide, scheme: 'light' });
    });

    await t.test('the keyboard reaches everything, which shows it, and answers', async () => {
      await tab.open(`${origin}/approvals`);
      await tab.press('Tab');
      assert.equal(await tab.look('document.activeElement.textContent'), 'Skip to the content');
      await tab.press('Enter');
      assert.equal(await tab.look('document.activeElement.id'), 'main');
      await tab.open(`${origin}/approvals`);
      const wanted = await tab.look<number>(
        `[...document.querySelectorAll('a, button, input:not([type=hidden]), select, summary, [tabindex="0"]')].filter((one) => one.checkVisibility()).length`,
      );
      const reached = new Set<string>();
      for (let n = 0; n < wanted; n++) {
        await tab.press('Tab');
        const [name, outline] = await tab.look<[string, string]>(focused);
        assert.notEqual(outline, 'none', name);
        reached.add(name);
      }
      assert.equal(reached.size, wanted);
      await tab.look(`document.querySelector('.card button').focus()`);
      await tab.press('Enter');
      await tab.until(
        `document.querySelector('[role=status]')?.textContent.startsWith('Approved by telegram:7')`,
      );
    });
    assert.deepEqual(tab.complaints(), []);
  },
);

/** What axe-core finds: rules of WCAG 2.2 A and AA, and its best practices. */
const violations = `axe.run({ resultTypes: ['violations'] }).then(({ violations }) =>
  violations.map(({ id, nodes }) => id + ' ' + nodes.map(({ html }) => html.slice(0, 160)).join(' | ')))`;

const focused = `(() => {
  const { activeElement: one } = document;
  const all = [...document.querySelectorAll('*')];
  return [one.tagName + all.indexOf(one), getComputedStyle(one).outlineStyle];
})()`;

/** Texts with less contrast than WCAG 2 asks for (AA), each with its ratio. */
const faintTexts = `(() => {
  const paint = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const rgba = (colour) => {
    paint.clearRect(0, 0, 1, 1);
    paint.fillStyle = colour;
    paint.fillRect(0, 0, 1, 1);
    return [...paint.getImageData(0, 0, 1, 1).data];
  };
  const light = (colour) => {
    const [r, g, b] = rgba(colour).slice(0, 3).map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let one = element; one; one = one.parentElement) {
      const { backgroundColor } = getComputedStyle(one);
      if (rgba(backgroundColor)[3] === 255) return backgroundColor;
    }
    return 'white';
  };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (node.data.trim() === '' || !element.checkVisibility()) continue;
    const style = getComputedStyle(element);
    const colour = element.namespaceURI.endsWith('svg') ? style.fill : style.color;
    const [high, low] = [light(colour), light(behind(element))].sort((a, b) => b - a);
    const ratio = (high + 0.05) / (low + 0.05);
    const isLarge = parseFloat(style.fontSize) >= 24;
    if (ratio < (isLarge ? 3 : 4.5)) found.push(ratio.toFixed(2) + ' ' + node.data.trim().slice(0, 40));
  }
  return found;
})()`;

const wrongStructure = `(() => {
  const count = (selector) => document.querySelectorAll(selector).length;
  const ids = [...document.querySelectorAll('[id]')].map(({ id }) => id);
  const labels = [...document.querySelectorAll('[aria-labelledby]')].map((one) => one.getAttribute('aria-labelledby'));
  const levels = [...document.querySelectorAll('h1, h2, h3')].map(({ tagName }) => Number(tagName[1]));
  return [
    ...['h1', 'main', 'nav', 'header', 'footer'].filter((one) => count(one) !== 1),
    ...ids.filter((id, at) => ids.indexOf(id) !== at || /\\s/.test(id)).map((id) => 'id ' + id),
    ...labels.filter((id) => !ids.includes(id)),
    ...(levels.some((level, at) => level > (levels[at - 1] ?? 0) + 1) ? ['a heading is skipped'] : []),
    ...(document.documentElement.lang === 'en' ? [] : ['no language']),
    ...(document.title === '' ? ['no title'] : []),
    ...(count('th:not([scope])') > 0 ? ['a heading of a table without its direction'] : []),
  ];
})()`;

const needName = new Set([
  'button',
  'link',
  'textbox',
  'searchbox',
  'combobox',
  'checkbox',
  'image',
  'navigation',
  'region',
  'Date',
]);

type Node = Readonly<{
  ignored: boolean;
  role?: Readonly<{ value: string }>;
  name?: Readonly<{ value: string }>;
}>;

/** What a screen reader could not name. */
async function nameless(tab: Tab): Promise<readonly string[]> {
  const { nodes } = (await tab.send('Accessibility.getFullAXTree')) as Readonly<{ nodes: readonly Node[] }>;
  const seen = nodes.filter(({ ignored, role }) => !ignored && needName.has(role?.value ?? ''));
  assert.ok(seen.length > 1);
  return seen.filter(({ name }) => (name?.value ?? '').trim() === '').map(({ role }) => role?.value ?? '');
}
