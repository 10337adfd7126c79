import { Buffer } from 'node:buffer';
import type { BrowserCookie, BrowserPage } from './browser.ts';

type Params = Readonly<Record<string, unknown>>;

interface Message {
  readonly id?: number;
  readonly sessionId?: string;
  readonly method?: string;
  // biome-ignore lint/suspicious/noExplicitAny: the protocol's answers are of many shapes
  readonly params?: any;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly result?: any;
  readonly error?: { readonly message: string };
}

/** A page has so long to load. */
const LOAD_LIMIT_MS = 30_000;

/** Speaks the DevTools protocol: as much of it as tests of pages need. */
export async function devTools(address: string): Promise<{ page(): Promise<BrowserPage>; close(): void }> {
  const wire = await connection(address);
  return { page: () => newPage(wire), close: wire.close };
}

interface Wire {
  ask(method: string, params?: Params, sessionId?: string): Promise<NonNullable<Message['result']>>;
  /** Every event of a page. */
  listen(sessionId: string, listener: (method: string, params: NonNullable<Message['params']>) => void): void;
  close(): void;
}

async function connection(address: string): Promise<Wire> {
  const socket = new WebSocket(address);
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve, { once: true });
    socket.addEventListener('error', () => reject(new Error(`could not speak to the browser at ${address}`)));
  });
  const waiting = new Map<number, { resolve(result: Message['result']): void; reject(error: Error): void }>();
  const listeners = new Map<string, Parameters<Wire['listen']>[1]>();
  socket.addEventListener('message', ({ data }) => {
    const { id, sessionId = '', method, params, result, error }: Message = JSON.parse(String(data));
    if (method !== undefined) listeners.get(sessionId)?.(method, params);
    const asked = waiting.get(id ?? 0);
    waiting.delete(id ?? 0);
    if (error === undefined) asked?.resolve(result);
    else asked?.reject(new Error(error.message));
  });
  let last = 0;
  return {
    ask: (method, params = {}, sessionId) => {
      last += 1;
      const id = last;
      socket.send(JSON.stringify({ id, method, params, ...(sessionId !== undefined && { sessionId }) }));
      return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
    },
    listen: (sessionId, listener) => void listeners.set(sessionId, listener),
    close: () => socket.close(),
  };
}

async function newPage(wire: Wire): Promise<BrowserPage> {
  const { targetId } = await wire.ask('Target.createTarget', { url: 'about:blank' });
  const { sessionId } = await wire.ask('Target.attachToTarget', { targetId, flatten: true });
  const ask = (method: string, params?: Params) => wire.ask(method, params, sessionId);
  const requests: string[] = [];
  const complaints: string[] = [];
  let loaded = (): void => {};
  wire.listen(sessionId, (method, params) => {
    if (method === 'Network.requestWillBeSent') requests.push(params.request.url);
    if (method === 'Page.loadEventFired') loaded();
    if (method === 'Log.entryAdded') complaints.push(`${params.entry.text} ${params.entry.url ?? ''}`.trim());
    if (method === 'Runtime.exceptionThrown') complaints.push(params.exceptionDetails.exception?.description ?? '');
  });
  for (const domain of ['Page', 'Network', 'Log', 'Runtime']) await ask(`${domain}.enable`);
  const loading = async (begin: () => Promise<unknown>): Promise<void> => {
    const done = new Promise<void>((resolve, reject) => {
      loaded = resolve;
      setTimeout(() => reject(new Error('a page did not load in time')), LOAD_LIMIT_MS).unref();
    });
    await begin();
    await done;
  };
  const evaluate = (expression: string) => ask('Runtime.evaluate', { expression, returnByValue: true });
  return {
    open: (url) => loading(() => ask('Page.navigate', { url })),
    follow: (script) => loading(() => evaluate(script)),
    read: async (expression) => (await evaluate(expression)).result.value,
    requests,
    complaints,
    cookies: async () => (await ask('Network.getCookies')).cookies as BrowserCookie[],
    picture: async () => Buffer.from((await ask('Page.captureScreenshot', { format: 'png' })).data, 'base64'),
  };
}
