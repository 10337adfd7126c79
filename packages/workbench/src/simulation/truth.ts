/** An owner by its number; a batch by its number among those of its owner. */
export type OwnerNo = number;
export type BatchNo = number;

/** What an owner has in a cell. */
export interface Held {
  readonly batches: BatchNo[];
  /** Of batches that are not taken again. */
  readonly keys: BatchNo[];
  /** Another one for whoever came back to a cell. */
  lane: number;
  /** Goes up with each change. */
  changes: number;
  /** When something was said last. */
  lastAt: number;
}

export const KINDS = ['second home', 'no home', 'lost', 'doubled', 'unseen', 'refused', 'stuck'] as const;

/** Something that should not be: how often it was, and the first few times in words. */
export interface Finding {
  readonly kind: (typeof KINDS)[number];
  readonly count: number;
  readonly first: readonly string[];
}

const SHOWN = 5;
const SECOND_MS = 1_000;

export type Truth = ReturnType<typeof startTruth>;

/** What is so at every moment, as only somebody knows who sees all cells at once. */
export function startTruth(now: () => number) {
  const accepted = new Map<OwnerNo, BatchNo[]>();
  const acknowledged = new Map<OwnerNo, number>();
  const homes = new Map<OwnerNo, string>();
  const leftAt = new Map<OwnerNo, number>();
  const gaps: number[] = [];
  const found = new Map<Finding['kind'], { count: number; readonly first: string[] }>();
  const note = (kind: Finding['kind'], what: string): void => {
    const one = found.get(kind) ?? { count: 0, first: [] };
    one.count += 1;
    if (one.first.length < SHOWN) one.first.push(`after ${(now() / SECOND_MS).toFixed(1)} s: ${what}`);
    found.set(kind, one);
  };
  const compare = (owner: OwnerNo, { batches }: Held): void => {
    const there = new Set(batches);
    if (there.size < batches.length) note('doubled', `owner ${owner} has a batch twice`);
    const missing = (accepted.get(owner) ?? []).filter((batch) => !there.has(batch));
    if (missing.length > 0) note('lost', `owner ${owner} lacks ${missing.length} batches`);
  };
  return {
    note,
    /** A cell took a batch for a new one. */
    accepted: (owner: OwnerNo, batch: BatchNo): void => {
      const all = accepted.get(owner);
      if (all === undefined) accepted.set(owner, [batch]);
      else if (all.includes(batch)) note('doubled', `batch ${batch} of owner ${owner} was accepted twice`);
      else all.push(batch);
    },
    /** Whoever posted a batch knows that it is accepted. */
    acknowledged: (owner: OwnerNo): void => void acknowledged.set(owner, (acknowledged.get(owner) ?? 0) + 1),
    acknowledgedOf: (owner: OwnerNo): number => acknowledged.get(owner) ?? 0,
    /** From now on an owner can be seen in a cell. */
    appeared: (owner: OwnerNo, cell: string, held: Held): void => {
      const other = homes.get(owner);
      if (other !== undefined) note('second home', `owner ${owner} appeared in ${cell} and is in ${other}`);
      homes.set(owner, cell);
      const left = leftAt.get(owner);
      if (left !== undefined) gaps.push(now() - left);
      leftAt.delete(owner);
      compare(owner, held);
    },
    vanished: (owner: OwnerNo, cell: string): void => {
      if (homes.get(owner) !== cell) return;
      homes.delete(owner);
      leftAt.set(owner, now());
    },
    /** How long nobody had an owner that moved, in ms; of each move. */
    gaps: (): readonly number[] => gaps,
    homeOf: (owner: OwnerNo): string | null => homes.get(owner) ?? null,
    /** A search found what is in a cell; so many batches were acknowledged before it was asked. */
    searched: (owner: OwnerNo, held: Held | null, acknowledgedBefore: number): void => {
      const seen = held?.batches.length ?? 0;
      if (seen < acknowledgedBefore)
        note('unseen', `a search of owner ${owner} saw ${seen} of ${acknowledgedBefore} batches`);
    },
    /** Looks once more at everybody, wherever they can be seen at the end. Owners below `settled` were there from the first. */
    conclude: (all: Iterable<readonly [OwnerNo, Held]>, settled: OwnerNo): void => {
      const seen = new Set<OwnerNo>();
      for (const [owner, held] of all) {
        if (seen.has(owner)) note('second home', `owner ${owner} is in two cells at the end`);
        seen.add(owner);
        compare(owner, held);
      }
      const missing = (owner: OwnerNo): void => {
        if (!seen.has(owner)) note('no home', `owner ${owner} is nowhere at the end`);
      };
      for (let owner = 0; owner < settled; owner += 1) missing(owner);
      for (const owner of accepted.keys()) if (owner >= settled) missing(owner);
    },
    acceptedInAll: (): number => [...accepted.values()].reduce((sum, batches) => sum + batches.length, 0),
    findings: (): readonly Finding[] =>
      KINDS.flatMap((kind) => {
        const one = found.get(kind);
        return one === undefined ? [] : [{ kind, ...one }];
      }),
  };
}
