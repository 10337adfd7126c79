import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { devTools } from './dev-tools.ts';
import { tempDir } from './temp.ts';

/** A page of a real browser. */
export interface BrowserPage {
  /** Resolves when the page and all it loads at once are there. */
  open(url: string): Promise<void>;
  /** Does something that leads to another page, and waits for that one. */
  follow(script: string): Promise<void>;
  /** What an expression is in the page, as JSON. */
  read<T>(expression: string): Promise<T>;
  /** Every URL the page and what it loaded asked for, in order. */
  readonly requests: readonly string[];
  /** What scripts of the page complained of, and what its policy kept it from. */
  readonly complaints: readonly string[];
  cookies(): Promise<readonly BrowserCookie[]>;
  /** A picture of it, as PNG. */
  picture(): Promise<Buffer>;
}

export interface BrowserCookie {
  readonly name: string;
  readonly httpOnly: boolean;
  readonly secure: boolean;
  readonly sameSite?: 'Strict' | 'Lax' | 'None';
  readonly expires: number;
}

export interface TestBrowser {
  page(): Promise<BrowserPage>;
  close(): Promise<void>;
}

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];
/** It starts in a second; far longer on a machine that is busy. */
const START_LIMIT_MS = 60_000;

/** A browser without a window, which knows nobody but this machine. */
const ARGS = [
  ...['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-extensions'],
  ...[
    '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
    '--remote-debugging-port=0',
    '--window-size=1200,800',
  ],
];

/** Starts a throw-away browser. */
export async function startBrowser(): Promise<TestBrowser> {
  const program = NAMES.find((name) => spawnSync(name, ['--version'], { stdio: 'ignore' }).status === 0);
  if (program === undefined) throw new Error(`expected one of ${NAMES.join(', ')} on the PATH; install chromium`);
  const folder = await tempDir();
  const args = [...ARGS, `--user-data-dir=${folder.path}`, 'about:blank'];
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'], detached: true });
  const kill = (): void => killGroup(child);
  process.once('exit', kill); // a test run that is aborted leaves no browser behind
  const close = async (): Promise<void> => {
    process.off('exit', kill);
    const ended = once(child, 'exit');
    kill();
    if (child.exitCode === null && child.signalCode === null) await ended;
    await folder.remove();
  };
  try {
    const tools = await devTools(await addressOf(child));
    return {
      page: () => tools.page(),
      close: async () => {
        tools.close();
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Where it can be spoken to: it says so in its output. */
async function addressOf(child: ChildProcess): Promise<string> {
  let output = '';
  const told = new Promise<string>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`the browser ended with ${code}:\n${output}`)));
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      const [, address] = /DevTools listening on (ws:\S+)/.exec(output) ?? [];
      if (address !== undefined) resolve(address);
    });
  });
  const late = new Promise<never>((_, reject) => {
    setTimeout(() => reject(new Error(`the browser was not ready in time:\n${output}`)), START_LIMIT_MS).unref();
  });
  return Promise.race([told, late]);
}

/** With all the processes it has started. */
function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended already.
  }
}
