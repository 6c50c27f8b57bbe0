import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { until } from './until.ts';

const programs = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const flags = [
  ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--hide-scrollbars'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync', '--mute-audio'],
  ...['--disable-dev-shm-usage', '--remote-debugging-port=0'],
];

const program = programs.find((file) => existsSync(file));

/** Why tests that need a browser are skipped. */
export const browserHere: Readonly<{ skip: string | false }> = {
  skip: program === undefined && 'there is no Chromium here (Debian: apt-get install chromium)',
};

type Sends = (method: string, params?: object) => Promise<Readonly<Record<string, unknown>>>;

/** One tab of a real Chromium. */
export type Tab = Readonly<{
  /** By the Chrome DevTools Protocol. */
  send: Sends;
  /** Resolves when the page is loaded. */
  open(url: string): Promise<void>;
  /** The value of an expression in the page. */
  look<Value>(expression: string): Promise<Value>;
  /** Waits until an expression holds. */
  until(expression: string): Promise<void>;
  press(key: string): Promise<void>;
  show(how: Readonly<{ width: number; height: number; scheme: 'light' | 'dark' }>): Promise<void>;
  /** A PNG of the whole page. */
  picture(): Promise<Buffer>;
  /** What the browser complained about. */
  complaints(): readonly string[];
}>;

const keyCodes: Readonly<Record<string, number>> = { Tab: 9, Enter: 13 };

export async function openBrowser(t: Readonly<{ after(end: () => Promise<void>): void }>): Promise<Tab> {
  const folder = await mkdtemp(path.join(tmpdir(), 'skillet-browser-'));
  const child = spawn(program ?? '', [...flags, `--user-data-dir=${folder}`, 'about:blank'], {
    stdio: 'ignore',
  });
  const ended = once(child, 'exit');
  t.after(async () => {
    child.kill('SIGKILL');
    await ended;
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  const said = path.join(folder, 'DevToolsActivePort');
  await until(async () => (await readFile(said, 'utf8').catch(() => '')).split('\n').length > 1);
  const [port = ''] = (await readFile(said, 'utf8')).split('\n');
  const tabs = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as readonly Readonly<{
    type: string;
    webSocketDebuggerUrl: string;
  }>[];
  const socket = new WebSocket(tabs.find(({ type }) => type === 'page')?.webSocketDebuggerUrl ?? '');
  await once(socket, 'open');
  return attach(socket);
}

type Told = Readonly<{
  id?: number;
  method?: string;
  params?: Readonly<Record<string, unknown>>;
  result?: Readonly<Record<string, unknown>>;
  error?: Readonly<{ message: string }>;
}>;

async function attach(socket: WebSocket): Promise<Tab> {
  const asked = new Map<number, PromiseWithResolvers<Readonly<Record<string, unknown>>>>();
  const complaints: string[] = [];
  let last = 0;
  let loaded = Promise.withResolvers<void>();
  socket.addEventListener('message', ({ data }) => {
    const told = JSON.parse(String(data)) as Told;
    if (told.method === 'Page.loadEventFired') loaded.resolve();
    if (told.method === 'Log.entryAdded' || told.method === 'Runtime.exceptionThrown')
      complaints.push(JSON.stringify(told.params));
    const waiting = asked.get(told.id ?? -1);
    if (told.error === undefined) waiting?.resolve(told.result ?? {});
    else waiting?.reject(new Error(told.error.message));
  });
  const send: Sends = (method, params = {}) => {
    const reply = Promise.withResolvers<Readonly<Record<string, unknown>>>();
    asked.set(++last, reply);
    socket.send(JSON.stringify({ id: last, method, params }));
    return reply.promise;
  };
  for (const domain of ['Page', 'Log', 'Runtime', 'Accessibility']) await send(`${domain}.enable`);

  async function look<Value>(expression: string): Promise<Value> {
    const { result, exceptionDetails } = (await send('Runtime.evaluate', {
      expression,
      returnByValue: true,
      awaitPromise: true,
    })) as Readonly<{ result: Readonly<{ value: Value }>; exceptionDetails?: unknown }>;
    if (exceptionDetails !== undefined) throw new Error(JSON.stringify(exceptionDetails));
    return result.value;
  }

  return {
    send,
    look,
    complaints: () => complaints,
    async open(url) {
      loaded = Promise.withResolvers();
      await send('Page.navigate', { url });
      await loaded.promise;
    },
    until: (expression) => until(() => look<boolean>(`Boolean(${expression})`).catch(() => false)),
    async press(key) {
      const of = { key, code: key, windowsVirtualKeyCode: keyCodes[key] };
      const text = key === 'Enter' ? '\r' : undefined;
      await send('Input.dispatchKeyEvent', { type: 'keyDown', text, ...of });
      await send('Input.dispatchKeyEvent', { type: 'keyUp', ...of });
    },
    async show({ width, height, scheme }) {
      const screen = { width, height, deviceScaleFactor: 1, mobile: false };
      await send('Emulation.setDeviceMetricsOverride', screen);
      const features = [{ name: 'prefers-color-scheme', value: scheme }];
      await send('Emulation.setEmulatedMedia', { features });
    },
    async picture() {
      const { data } = await send('Page.captureScreenshot', { captureBeyondViewport: true });
      return Buffer.from(String(data), 'base64');
    },
  };
}
