/** One page of a list. */
interface Page<T> {
  readonly results: readonly T[];
  readonly next_cursor: string | null;
}

/** All items of a list; pages are requested when they are needed. */
export async function* everyPage<T>(page: (cursor: string | undefined) => Promise<Page<T>>): AsyncGenerator<T, void> {
  let cursor: string | undefined;
  do {
    const { results, next_cursor } = await page(cursor);
    yield* results;
    cursor = next_cursor ?? undefined;
  } while (cursor !== undefined);
}

/** The values of a body with one JSON value a line, as they arrive. */
export async function* everyLine<T>(answer: Response): AsyncGenerator<T, void> {
  if (answer.body === null) return;
  const decoder = new TextDecoder();
  const reader = answer.body.getReader();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      rest += done ? decoder.decode() : decoder.decode(value, { stream: true });
      const lines = rest.split('\n');
      rest = done ? '' : (lines.pop() ?? '');
      for (const line of lines) if (line !== '') yield JSON.parse(line) as T;
      if (done) return;
    }
  } finally {
    // Readers that stop early need no more of it.
    await reader.cancel();
  }
}
