/** The page a list request asks for. */
export const pageOf = (query: {
  limit: number;
  cursor?: string | undefined;
}): { limit: number; cursor: string | null } => ({
  limit: query.limit,
  cursor: query.cursor ?? null,
});

/** A list answer in the API's words. */
export const listed = <T, V>(
  page: { readonly results: readonly T[]; readonly nextCursor: string | null },
  view: (item: T) => V,
): { results: V[]; next_cursor: string | null } => ({
  results: page.results.map(view),
  next_cursor: page.nextCursor,
});
