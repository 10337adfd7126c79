/** The last id of a slice; null where nothing was left. */
interface Slice {
  readonly last: string | null;
  readonly filled?: number;
}

/** Does something to rows slice by slice in the order of their ids, each slice a transaction. Answers with how many were filled. */
export async function inSlices(slice: (after: string) => Promise<Slice>): Promise<number> {
  let all = 0;
  for (let after: string | null = ''; after !== null; ) {
    const { last, filled = 0 }: Slice = await slice(after);
    after = last;
    all += filled;
  }
  return all;
}
