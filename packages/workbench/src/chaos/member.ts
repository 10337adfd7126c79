import { writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Service, spawnService } from '@slowwave/testkit';

/** One process of the product, started again whenever it ended. */
export interface Member {
  readonly name: string;
  readonly url: string;
  /** null while it does not run. */
  pid(): number | null;
  start(): Promise<void>;
  /** SIGKILL, and a start after a while. */
  crash(downMs: number): Promise<void>;
  /** SIGTERM, and a start after a while. */
  restart(downMs: number): Promise<void>;
  /** SIGKILL at this very moment; it stays down until `start`. */
  strike(): void;
  /** SIGKILL; whoever wants to start it waits for `release`, which starts it. */
  halt(): Promise<void>;
  release(): Promise<void>;
  /** Neither runs nor ends for a while. */
  pause(ms: number): Promise<void>;
  /** From now on its clock is wrong by so much. */
  setClock(offsetMs: number): Promise<void>;
  /** Ends it for good. */
  end(): Promise<void>;
  /** Ends nobody asked for, and what was written before them. */
  readonly mishaps: string[];
}

export interface MemberOptions {
  readonly name: string;
  readonly main: string;
  readonly url: string;
  readonly clockFile: string;
  readonly env: Readonly<Record<string, string>>;
}

interface State {
  readonly options: MemberOptions;
  readonly mishaps: string[];
  service: Service | null;
  /** Whether an end is what somebody here wants. */
  ending: boolean;
  /** Starts and ends, one after the other. */
  line: Promise<void>;
  /** Ends a halt. */
  release: () => void;
  closed: boolean;
}

/** Servers it needs may be away; whoever runs it starts it again until they are back. */
const START_WITHIN_MS = 90_000;
const AGAIN_MS = 250;
/** A process that was asked to end does so by itself after 25 s at the latest. */
const STOP_WITHIN_MS = 30_000;
const CLOCK = new URL('shifted-clock.ts', import.meta.url);
const OUTPUT_SHOWN = 3_000; // characters

export function openMember(options: MemberOptions): Member {
  const state: State = {
    options,
    mishaps: [],
    service: null,
    ending: false,
    line: Promise.resolve(),
    release: () => {},
    closed: false,
  };
  const inLine = (work: () => Promise<void>): Promise<void> => inLineOf(state, work);
  const again = (signal: 'SIGKILL' | 'SIGTERM', downMs: number) =>
    inLine(async () => {
      await endService(state, signal);
      await sleep(downMs);
      await startService(state);
    });
  return {
    name: options.name,
    url: options.url,
    mishaps: state.mishaps,
    pid: () => state.service?.pid ?? null,
    start: () => inLine(() => startService(state)),
    crash: (downMs) => again('SIGKILL', downMs),
    restart: (downMs) => again('SIGTERM', downMs),
    strike: () => strike(state),
    halt: () => halt(state),
    release: () => {
      state.release();
      return state.line;
    },
    pause: (ms) => inLine(() => pause(state, ms)),
    setClock: (offsetMs) => writeFile(options.clockFile, String(offsetMs)),
    end: () =>
      inLine(async () => {
        state.closed = true;
        await endService(state, 'SIGKILL');
      }),
  };
}

function inLineOf(state: State, work: () => Promise<void>): Promise<void> {
  const done = state.line.then(work);
  state.line = done.catch(() => {});
  return done;
}

async function startService(state: State): Promise<void> {
  if (state.closed || state.service !== null) return;
  const { main, url, env, clockFile } = state.options;
  const deadline = Date.now() + START_WITHIN_MS;
  for (;;) {
    try {
      const service = await spawnService({
        main,
        env: { ...env, CHAOS_CLOCK_FILE: clockFile, NODE_OPTIONS: `--import=${CLOCK}` },
        ready: { url: `${url}/readyz` },
        readyWithinMs: START_WITHIN_MS,
        stopWithinMs: STOP_WITHIN_MS,
      });
      return watch(state, service);
    } catch (error) {
      if (Date.now() > deadline || state.closed) throw error;
      await sleep(AGAIN_MS);
    }
  }
}

function watch(state: State, service: Service): void {
  state.service = service;
  state.ending = false;
  void service.waitForExit().then(({ code, signal }) => {
    if (state.service !== service) return;
    state.service = null;
    if (state.ending) return;
    const { name } = state.options;
    state.mishaps.push(`${name} ended by itself (code ${code}, signal ${signal}):\n${tail(service)}`);
    state.line = state.line.then(() => startService(state)).catch(() => {});
  });
}

const tail = (service: Service): string => service.output().slice(-OUTPUT_SHOWN);

async function endService(state: State, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
  const { service } = state;
  if (service === null) return;
  state.ending = true;
  const exit = await (signal === 'SIGKILL' ? service.kill() : service.stop());
  state.service = null;
  // Somebody else may have killed it meanwhile.
  if (signal === 'SIGTERM' && exit.code !== 0 && exit.signal !== 'SIGKILL') {
    state.mishaps.push(
      `${state.options.name} was asked to end and ended with ${exit.code ?? exit.signal}, not 0:\n${tail(service)}`,
    );
  }
}

function strike(state: State): void {
  const { service } = state;
  if (service === null) return;
  state.ending = true;
  send(service.pid, 'SIGKILL');
  void inLineOf(state, async () => {
    await service.waitForExit();
    if (state.service === service) state.service = null;
  });
}

function halt(state: State): Promise<void> {
  const ended = Promise.withResolvers<void>();
  inLineOf(state, async () => {
    const released = new Promise<void>((resolve) => {
      state.release = resolve;
    });
    await endService(state, 'SIGKILL');
    ended.resolve();
    await released;
    await startService(state);
  }).catch(ended.reject);
  return ended.promise;
}

async function pause({ service }: State, ms: number): Promise<void> {
  if (service === null) return;
  send(service.pid, 'SIGSTOP');
  await sleep(ms);
  send(service.pid, 'SIGCONT');
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // it has ended
  }
}
