import { KEY_OF, SAID_KINDS, type SaidKind } from '../memories/said-ids.ts';
import type { SaidId } from '../ports/ledger/memories.ts';
import type { IndexQuery } from '../ports/search-index.ts';
import type { NamedIds } from '../words.ts';
import type { Condition, Field, Filter } from './filter/filter.ts';

/** What a question asks for beside the owner. */
type Asked = Pick<IndexQuery, 'filter' | 'where'>;
type Id = Pick<SaidId, 'kind' | 'id'>;
/** What the ledger knows and the index does not: memories that stand under these ids, too. */
type Beyond = readonly (Id & { readonly memoryId: string })[];

/** The agents, runs and apps that a question names. */
export function idsAsked({ filter, where }: Asked): readonly Id[] {
  const named = SAID_KINDS.flatMap((kind) => {
    const id = filter[KEY_OF[kind]];
    return id === undefined ? [] : [{ kind, id }];
  });
  const all = [...named, ...(where === null ? [] : idsIn(where))];
  return [...new Map(all.map((one) => [`${one.kind} ${one.id}`, one])).values()];
}

function idsIn(filter: Filter): readonly Id[] {
  switch (filter.kind) {
    case 'all':
    case 'any':
      return filter.of.flatMap(idsIn);
    case 'not':
      return idsIn(filter.of);
    case 'condition':
      return idsOf(filter);
  }
}

function idsOf({ field, test }: Condition): readonly Id[] {
  const kind = kindOf(field);
  if (kind === undefined || test.kind !== 'equals') return [];
  return test.values.flatMap((id) => (typeof id === 'string' ? [{ kind, id }] : []));
}

/**
 * A question as an index has to be asked that knows the newest ids of each memory alone: whoever asks for an id also asks for
 * the memories, by name, of which only the ledger knows that they stand under it. What asks for none of it, does not.
 */
export function withBeyond({ filter, where }: Asked, beyond: Beyond): Asked {
  if (beyond.length === 0) return { filter, where };
  const conditions = SAID_KINDS.flatMap((kind): Condition[] => {
    const id = filter[KEY_OF[kind]];
    return id === undefined ? [] : [equals({ name: KEY_OF[kind] }, [id])];
  });
  const of = [...conditions, ...(where === null ? [] : [where])];
  return { filter: NO_IDS, where: known({ kind: 'all', of }, beyond) };
}

const NO_IDS: NamedIds = {};

function known(filter: Filter, beyond: Beyond): Filter {
  switch (filter.kind) {
    case 'all':
    case 'any':
      return { kind: filter.kind, of: filter.of.map((one) => known(one, beyond)) };
    case 'not':
      return { kind: 'not', of: known(filter.of, beyond) };
    case 'condition': {
      const asked = new Set(idsOf(filter).map(nameOf));
      const memories = new Set(beyond.filter((one) => asked.has(nameOf(one))).map(({ memoryId }) => memoryId));
      return memories.size === 0 ? filter : { kind: 'any', of: [filter, equals({ name: 'memoryId' }, [...memories])] };
    }
  }
}

const nameOf = ({ kind, id }: Id): string => `${kind} ${id}`;
const kindOf = ({ name }: Field): SaidKind | undefined => SAID_KINDS.find((kind) => KEY_OF[kind] === name);
const equals = (field: Field, values: readonly string[]): Condition => ({
  kind: 'condition',
  field,
  test: { kind: 'equals', values },
});
