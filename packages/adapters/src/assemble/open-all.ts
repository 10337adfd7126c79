/** What is open until it is closed. */
interface Open {
  close(): Promise<unknown>;
}

/** Waits for things that are opened at the same time: all of them are open then, or, when one cannot be, none. */
export async function openAll<const O extends readonly Promise<Open>[]>(
  opening: O,
): Promise<{ -readonly [I in keyof O]: Awaited<O[I]> }> {
  try {
    return await Promise.all(opening);
  } catch (error) {
    await Promise.all(
      opening.map((one) =>
        one.then(
          (open) => open.close().catch(() => {}), // what is wrong is told already
          () => {},
        ),
      ),
    );
    throw error;
  }
}

/** Waits for something that needs what is open already, which is closed when it cannot be opened. */
export async function openOn<T>(opened: readonly Open[], opening: Promise<T>): Promise<T> {
  try {
    return await opening;
  } catch (error) {
    for (const one of opened) await one.close().catch(() => {});
    throw error;
  }
}
