import {
  BaseStore,
  type GetOperation,
  InvalidNamespaceError,
  type Item,
  type ListNamespacesOperation,
  type MatchCondition,
  type Operation,
  type OperationResults,
  type PutOperation,
  type SearchItem,
  type SearchOperation,
  validateNamespace,
} from '@langchain/langgraph-checkpoint';
import { type Memory, type Slowwave, SlowwaveError } from '@slowwave/sdk';

export interface StoreOptions {
  readonly slowwave: Slowwave;
  /** The place of the label that names the user, from 0: with ["memories", "ana"] it is 1. */
  readonly userAt?: number | undefined;
  /** The agent that owns the items of which no user does ("langgraph"). */
  readonly agentId?: string | undefined;
  /** The paths in a value that it is found by, such as "title" or "chapters[*].text". Default: all that is in it. */
  readonly fields?: readonly string[] | undefined;
}

/** What Slowwave answers at once. */
const PAGE = 200;
const DEFAULT_LIMIT = 10;

/** Keeps LangGraph's items as memories that no model changes, and finds them by meaning and by words. */
export class SlowwaveStore extends BaseStore {
  readonly #slowwave: Slowwave;
  readonly #owners: Owners;
  readonly #fields: readonly string[] | undefined;
  /** The last write of each item: those of one item follow each other. */
  readonly #writes = new Map<string, Promise<void>>();

  constructor({ slowwave, userAt, agentId = 'langgraph', fields }: StoreOptions) {
    super();
    if (userAt !== undefined && !(Number.isInteger(userAt) && userAt >= 0)) {
      throw new TypeError(`expected userAt to be the place of a label, from 0, got ${JSON.stringify(userAt)}`);
    }
    this.#slowwave = slowwave;
    this.#owners = { userAt, agentId };
    this.#fields = fields;
  }

  /** Reads see what was there before the batch; of several puts of one item, the last counts. */
  override async batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    const results = await Promise.all(operations.map((operation) => this.#read(operation)));
    const puts = operations.filter((operation) => 'value' in operation);
    const last = new Map(puts.map((put) => [nameOf(put), put]));
    await Promise.all([...last.values()].map((put) => this.#inTurn(put)));
    return results as OperationResults<Op>;
  }

  #read(operation: Operation): Promise<unknown> {
    if ('namespacePrefix' in operation) return this.#search(operation);
    if ('value' in operation) return Promise.resolve(undefined);
    return 'key' in operation ? this.#get(operation) : this.#namespaces(operation);
  }

  async #get(operation: GetOperation): Promise<Item | null> {
    const [memory] = await this.#kept(operation);
    return memory === undefined ? null : itemOf(memory);
  }

  /** The memories that an item is kept as, the newest first: one, unless two processes put a new item at once. */
  async #kept({ namespace, key }: GetOperation): Promise<readonly Memory[]> {
    validateNamespace(namespace, { allowReservedRoot: true });
    const conditions = [...isIn(namespace), conditionOn('key', { eq: key })];
    const owner = ownerOf(this.#owners, namespace, true);
    const { results } = await this.#slowwave.memories.list(listOf(owner, conditions));
    return results;
  }

  async #search(operation: SearchOperation): Promise<SearchItem[]> {
    const { namespacePrefix, filter = {}, query = '', limit = DEFAULT_LIMIT, offset = 0 } = operation;
    validateNamespace(namespacePrefix, { allowEmpty: true, allowReservedRoot: true });
    const owner = ownerOf(this.#owners, namespacePrefix, false);
    const conditions = [conditionOn('key', '*'), ...isBelow(namespacePrefix), ...conditionsOf(filter)];
    const found = new Map<string, SearchItem>();
    const add = (memory: Memory & { readonly score?: number }): void => {
      const item = itemOf(memory);
      if (!found.has(nameOf(item))) found.set(nameOf(item), { ...item, ...(query !== '' && { score: memory.score }) });
    };
    if (query !== '') {
      const isFindable = conditionOn('indexed', true);
      const { results } = await this.#slowwave.memories.search({
        ...owner,
        query,
        cut: 'none',
        filters: { AND: [...conditions, isFindable] },
        top_k: limit + offset,
      });
      for (const memory of results) add(memory);
    } else {
      for await (const memory of this.#slowwave.memories.each(listOf(owner, conditions, limit + offset))) {
        add(memory);
        if (found.size >= limit + offset) break;
      }
    }
    return [...found.values()].slice(offset, offset + limit);
  }

  async #namespaces({ matchConditions = [], maxDepth, limit, offset }: ListNamespacesOperation): Promise<string[][]> {
    const prefix = matchConditions.find(({ matchType }) => matchType === 'prefix')?.path ?? [];
    const owner = ownerOf(this.#owners, prefix, false);
    const found = new Map<string, string[]>();
    for await (const memory of this.#slowwave.memories.each(
      listOf(owner, [conditionOn('key', '*'), ...isBelow(prefix)]),
    )) {
      const { namespace } = itemOf(memory);
      if (!matchConditions.every((condition) => isMatched(namespace, condition))) continue;
      const shown = namespace.slice(0, maxDepth);
      found.set(JSON.stringify(shown), shown);
    }
    const sorted = [...found.values()].sort((a, b) => (a.join(':') < b.join(':') ? -1 : 1));
    return sorted.slice(offset, offset + limit);
  }

  async #inTurn(put: PutOperation): Promise<void> {
    const name = nameOf(put);
    const before = this.#writes.get(name) ?? Promise.resolve();
    const written = before.catch(() => undefined).then(() => this.#put(put));
    this.#writes.set(name, written);
    try {
      await written;
    } finally {
      if (this.#writes.get(name) === written) this.#writes.delete(name);
    }
  }

  async #put(put: PutOperation): Promise<void> {
    const [newest, ...others] = await this.#kept(put);
    const { memories } = this.#slowwave;
    try {
      if (put.value === null) {
        if (newest !== undefined) others.push(newest);
      } else if (newest === undefined) {
        await memories.add({ ...ownerOf(this.#owners, put.namespace, true), ...this.#bodyOf(put), immutable: true });
      } else {
        await this.#change(newest, put);
      }
      for (const { id } of others) await memories.delete(id).catch(unlessGone);
    } catch (error) {
      throw withPlace(put, error);
    }
  }

  /** Consolidations leave immutable memories as they are; a new text has to take that off for a moment. */
  async #change({ id, memory: text }: Memory, put: PutOperation): Promise<void> {
    const { memories } = this.#slowwave;
    const body = this.#bodyOf(put);
    if (body.memory === text) {
      await memories.update(id, { metadata: body.metadata });
      return;
    }
    await memories.update(id, { ...body, immutable: false });
    await memories.update(id, { immutable: true });
  }

  #bodyOf({ namespace, key, value, index }: PutOperation): Pick<Memory, 'memory' | 'metadata'> {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw new TypeError(`expected a value to be an object, got ${JSON.stringify(value)}`);
    }
    const text = index === false ? '' : textOf(value, index ?? this.#fields);
    const kept = { namespace: { ...namespace }, key, indexed: text !== '', value };
    // Every memory has a text; that of an item without one says where it is.
    return { memory: text === '' ? JSON.stringify([...namespace, key]) : text, metadata: { langgraph: kept } };
  }
}

/** How an item is kept in the metadata of a memory. */
interface Kept {
  readonly namespace: Readonly<Record<number, string>>;
  readonly key: string;
  readonly value: Record<string, unknown>;
}

function itemOf({ metadata, created_at, updated_at }: Memory): Item {
  const { namespace, key, value } = metadata.langgraph as Kept;
  return {
    value,
    key,
    namespace: Object.values(namespace),
    createdAt: new Date(created_at),
    updatedAt: new Date(updated_at),
  };
}

const nameOf = ({ namespace, key }: Pick<Item, 'namespace' | 'key'>): string => JSON.stringify([...namespace, key]);

/** The query for a list, of which about so many are wanted. */
const listOf = (owner: Owner, conditions: readonly Condition[], wanted: number = PAGE) => ({
  ...owner,
  filters: JSON.stringify({ AND: conditions }),
  limit: Math.max(1, Math.min(PAGE, wanted)),
});

function isMatched(namespace: readonly string[], { matchType, path }: MatchCondition): boolean {
  const from = matchType === 'prefix' ? 0 : namespace.length - path.length;
  return (
    from >= 0 &&
    path.every((label, depth) => (label === '*' ? from + depth < namespace.length : label === namespace[from + depth]))
  );
}

function unlessGone(error: unknown): void {
  if (!(error instanceof SlowwaveError && error.code === 'not_found')) throw error;
}

/** An error of the server names fields of its own; this says which item it is about. */
function withPlace({ namespace, key }: PutOperation, error: unknown): unknown {
  if (!(error instanceof SlowwaveError && error.code === 'invalid_request')) return error;
  const { message, status, code, errors, retryable, requestId } = error;
  const place = `item ${JSON.stringify(key)} in ${JSON.stringify(namespace)}`;
  const facts = { status, code, errors, retryable, requestId, cause: error };
  return new SlowwaveError(`${place}, whose value is kept as metadata: ${message}`, facts);
}

/** Who owns the items of a namespace. */
type Owner = { readonly user_id: string } | { readonly agent_id: string };

interface Owners {
  /** The place of the label that names the user, from 0; undefined: no label does. */
  readonly userAt: number | undefined;
  /** Owns all items of which no user does. */
  readonly agentId: string;
}

/** The owner of a namespace, whose end may be missing where all that it begins is meant. */
function ownerOf({ userAt, agentId }: Owners, namespace: readonly string[], isWhole: boolean): Owner {
  const user = userAt === undefined ? undefined : namespace[userAt];
  if (user !== undefined && user !== '*') return { user_id: user };
  if (userAt === undefined || (isWhole && user === undefined)) return { agent_id: agentId };
  throw new InvalidNamespaceError(
    `expected a namespace whose label ${userAt} (userAt) names the user, got ${JSON.stringify(namespace)}; one question ` +
      'is of one user',
  );
}

/** A condition of Slowwave's filters on what an item is kept as. */
type Condition = Readonly<Record<string, unknown>>;

/** Of a field that items are kept under. The form of objects takes keys as they are, dots included. */
const conditionOn = (field: string, condition: unknown): Condition => ({
  metadata: { langgraph: { [field]: condition } },
});

/** Below a namespace. */
const isBelow = (prefix: readonly string[]): Condition[] =>
  prefix.flatMap((label, depth) => (label === '*' ? [] : [conditionOn('namespace', { [depth]: { eq: label } })]));

/** In a namespace itself. */
const isIn = (namespace: readonly string[]): Condition[] => [
  ...isBelow(namespace),
  conditionOn('namespace', { [namespace.length]: null }),
];

const OPERATORS: ReadonlyMap<string, string> = new Map(
  ['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'nin'].map((name) => [`$${name}`, name]),
);
/** Keys that Slowwave's filters would take for operators unless a dot stands before them. */
const TAKEN = new Set([...OPERATORS.values(), 'contains', 'icontains']);

/** LangGraph's filter on values, as Slowwave's. Throws a TypeError for what it does not know. */
const conditionsOf = (filter: Readonly<Record<string, unknown>>): Condition[] =>
  Object.entries(filter).map(([key, wanted]) => {
    const condition = conditionOf(key, wanted);
    return TAKEN.has(key)
      ? { [`metadata.langgraph.value.${key}`]: condition }
      : { metadata: { langgraph: { value: { [key]: condition } } } };
  });

function conditionOf(key: string, wanted: unknown): Condition {
  if (typeof wanted !== 'object' || wanted === null) return { eq: wanted };
  const operators = Object.entries(wanted).map(([name, value]) => [OPERATORS.get(name), value] as const);
  const isKnown = operators.length > 0 && operators.every(([name]) => name !== undefined);
  if (isKnown && !Array.isArray(wanted)) return Object.fromEntries(operators);
  const known = [...OPERATORS.keys()].join(', ');
  throw new TypeError(
    `filter.${key}: expected a text, a number, a boolean, null or operators (${known}), got ${JSON.stringify(wanted)}`,
  );
}

/** The most characters of a text that can be searched. */
const TEXT_MAX = 8_000;

type Value = Readonly<Record<string, unknown>>;

/** What a value is found by: what stands at the paths, or everything in it. Empty if there is nothing to read. */
function textOf(value: Value, paths: readonly string[] | undefined): string {
  const found =
    paths === undefined ? linesOf(value) : paths.flatMap((path) => at(value, stepsOf(path)).flatMap(linesOf));
  return cut(found.join('\n').toWellFormed().trim());
}

/** One line for each text, number and truth in a value, under its name; a single one stands alone. */
function linesOf(value: unknown): string[] {
  const leaves = leavesOf(value, '');
  return leaves.length === 1 ? leaves.map(([, leaf]) => leaf) : leaves.map(([name, leaf]) => `${name}: ${leaf}`);
}

function leavesOf(value: unknown, name: string): (readonly [string, string])[] {
  if (value === null || value === undefined) return [];
  if (typeof value !== 'object') return [[name, String(value)]];
  const inner = Object.entries(value);
  return inner.flatMap(([key, one]) =>
    leavesOf(one, Array.isArray(value) || name === '' ? name || key : `${name}.${key}`),
  );
}

/** "a.b[*].c" → a, b, *, c */
const stepsOf = (path: string): string[] => path.split(/[.[\]]/).filter((step) => step !== '' && step !== '$');

function at(value: unknown, [step, ...rest]: readonly string[]): unknown[] {
  if (step === undefined) return [value];
  if (typeof value !== 'object' || value === null) return [];
  if (step === '*') return Object.values(value).flatMap((one) => at(one, rest));
  const found = Array.isArray(value) ? value.at(Number(step)) : (value as Value)[step];
  return found === undefined ? [] : at(found, rest);
}

/** Never through the middle of a character. */
const cut = (text: string): string => text.slice(0, TEXT_MAX).replace(/[\uD800-\uDBFF]$/, '');
