/** Thrown in the place of whatever a process would have done after it was killed. */
class Killed extends Error {
  constructor() {
    super('the process was killed here');
    this.name = 'Killed';
  }
}

interface Watched<T> {
  readonly deps: T;
  /** The names of all calls of ports so far, in order. */
  readonly calls: readonly string[];
}

/** Ports among the dependencies; the rest (time, ids, hashing, settings) cannot fail. */
const PORTS: ReadonlySet<string> = new Set(['ledger', 'index', 'chat', 'embedder', 'followUps', 'directory', 'peers']);

/** Dependencies whose every call of a port is counted, and passes through `around` with its number, from 0. */
export function watched<T extends object>(
  deps: T,
  around: (nth: number, call: () => Promise<unknown>) => Promise<unknown>,
): Watched<T> {
  const calls: string[] = [];
  const wrap = (port: object, name: string): object =>
    new Proxy(port, {
      get: (target, key) => {
        const value: unknown = Reflect.get(target, key);
        if (typeof value === 'object' && value !== null) return wrap(value, `${name}.${String(key)}`);
        if (typeof value !== 'function') return value;
        return (...given: unknown[]) => {
          calls.push(`${name}.${String(key)}`);
          return around(calls.length - 1, () => Reflect.apply(value, target, given));
        };
      },
    });
  const ports = Object.entries(deps).map(([name, port]) => [name, PORTS.has(name) ? wrap(port, name) : port]);
  return { deps: Object.fromEntries(ports), calls };
}

/** At a call of a port, before or after it took effect. */
interface Death {
  readonly at: number;
  readonly when: 'before' | 'after';
}

/** A process that is killed at its n-th call of a port. Nothing works afterwards. */
export function mortal<T extends object>(deps: T, death: Death): Watched<T> {
  return watched(deps, async (nth, call) => {
    if (nth > death.at || (nth === death.at && death.when === 'before')) throw new Killed();
    const answer = await call();
    if (nth === death.at) throw new Killed();
    return answer;
  });
}

/** The moments at which a process can die: before its first call, and after each. Before any other call is after the one before it. */
export const deathAfter = (calls: number): Death =>
  calls === 0 ? { at: 0, when: 'before' } : { at: calls - 1, when: 'after' };
