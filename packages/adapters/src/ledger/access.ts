import type { Script } from './script.ts';

/**
 * How the stores reach the ledger, whichever it is. A script goes by its name to the thread that runs it, so what it is
 * given and what it answers are values that can be cloned.
 */
export interface Access {
  /** Runs a script that changes nothing. */
  read<Input, Result>(script: Read<Input, Result>, input: Input): Promise<Result>;
  /** Runs a script as one transaction. On the disk when it resolves. */
  write<Input, Result>(script: Write<Input, Result>, input: Input): Promise<Result>;
}

interface Named<Input, Result> {
  readonly name: string;
  readonly script: (input: Input) => Script<Result>;
}

interface Read<Input, Result> extends Named<Input, Result> {
  readonly kind: 'read';
  /** Whether all its statements have to see the same moment. */
  readonly atOnce: boolean;
  readonly reach: Reach;
}

/**
 * How much a script reads. lookup: a row or two by their keys, which takes less time than to ask another thread. few: few rows by an
 * index, so that nobody is held up who waits for it as well; PostgreSQL reads both beside others in one transaction. audit: whole tables, which takes seconds in a large ledger: nobody else may have to wait for it.
 */
type Reach = 'lookup' | 'few' | 'rows' | 'audit';

interface Write<Input, Result> extends Named<Input, Result> {
  readonly kind: 'write';
  /** Whether it is one statement, which needs no more of a transaction than that. */
  readonly isStatement: boolean;
}

/** Every script by its name. A thread knows those of the modules it has loaded. */
const scripts = new Map<string, Named<never, unknown>>();

function registered<One extends Named<never, unknown>>(one: One): One {
  if (scripts.has(one.name)) throw new Error(`two scripts of the ledger are named ${one.name}`);
  scripts.set(one.name, one);
  return one;
}

/** A method of a store: a script of its parameters, and how it is run. */
type Method<Given extends readonly unknown[], Result> = (
  | Pick<Read<Given, Result>, 'kind' | 'atOnce' | 'reach'>
  | Pick<Write<Given, Result>, 'kind' | 'isStatement'>
) & { readonly script: (...given: Given) => Script<Result> };

type Methods<Store> = {
  readonly [Name in keyof Store]: Store[Name] extends (...given: infer Given) => Promise<infer Result>
    ? Method<Given, Result>
    : never;
};

type MethodOf = <Given extends readonly unknown[], Result>(
  script: (...given: Given) => Script<Result>,
) => Method<Given, Result>;

/** Finds a row or two by their keys, and is asked often. */
export const lookup: MethodOf = (script) => ({ kind: 'read', atOnce: false, reach: 'lookup', script });
/** Finds few rows by an index, and is asked by many at once. */
export const few: MethodOf = (script) => ({ kind: 'read', atOnce: false, reach: 'few', script });
/** The same, of one moment. */
export const fewAtOnce: MethodOf = (script) => ({ kind: 'read', atOnce: true, reach: 'few', script });
/** One statement, or several that need not see the same moment. */
export const read: MethodOf = (script) => ({ kind: 'read', atOnce: false, reach: 'rows', script });
/** All its statements see the same moment. */
export const snapshot: MethodOf = (script) => ({ kind: 'read', atOnce: true, reach: 'rows', script });
/** Looks through whole tables, as they are at one moment. */
export const audit: MethodOf = (script) => ({ kind: 'read', atOnce: true, reach: 'audit', script });
export const write: MethodOf = (script) => ({ kind: 'write', isStatement: false, script });
/** Changes something with one statement. */
export const statement: MethodOf = (script) => ({ kind: 'write', isStatement: true, script });

/** A store of these methods. Its scripts are known to every thread by the names of the store and the method. */
export function storeOf<Store>(name: string, methods: Methods<Store>): (access: Access) => Store {
  const known = Object.entries<Method<never, unknown>>(methods).map(([method, { script, ...how }]) => {
    const named = { ...how, name: `${name}.${method}`, script: (given: never) => script(...(given as never)) };
    return [method, registered(named)] as const;
  });
  return (access) =>
    Object.fromEntries(
      known.map(([method, one]) => [
        method,
        (...given: never) => (one.kind === 'read' ? access.read(one, given) : access.write(one, given)),
      ]),
    ) as Store;
}

export const scriptNamed = (name: string): ((input: never) => Script<unknown>) | undefined => scripts.get(name)?.script;
