/** One transaction takes so many rows: some ten milliseconds. */
const SLICE = 1_000;

/** The next rows by their ids. */
export interface SliceAfter {
  readonly after: string;
  readonly limit: number;
}

/** The last id of a slice; null where nothing was left. */
export interface Refilled {
  readonly last: string | null;
  readonly filled: number;
}

/** Does something to rows slice by slice in the order of their ids, each slice a transaction. Answers with how many were filled. */
export async function inSlices(refill: (slice: SliceAfter) => Promise<Refilled>): Promise<number> {
  let all = 0;
  for (let after: string | null = ''; after !== null; ) {
    const { last, filled }: Refilled = await refill({ after, limit: SLICE });
    after = last;
    all += filled;
  }
  return all;
}
