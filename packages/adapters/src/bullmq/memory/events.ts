/** As the library reads them: names and values in turns. */
type ReadEvent = [id: string, fields: string[]];
type Fields = Readonly<Record<string, string | number>>;

/** Where nobody says how many. */
const LENGTH = 1_000;

/** The last events of a queue. They are for views: nothing is driven by them. */
export class EventHistory {
  readonly #bell = new Bell();
  readonly #events: { readonly id: number; readonly fields: Fields }[] = [];
  #lastId = 0;

  add(fields: Fields, length = LENGTH): string {
    this.#lastId += 1;
    this.#events.push({ id: this.#lastId, fields });
    while (this.#events.length > length) this.#events.shift();
    this.#bell.ring();
    return String(this.#lastId);
  }

  /** Removes all but the last. */
  trim(length: number): number {
    return this.#events.splice(0, Math.max(0, this.#events.length - length)).length;
  }

  /** Those after the id; waits for one if there is none yet. '$' stands for the last one there is. */
  async after(after: string, limitMs: number, signal: AbortSignal): Promise<ReadEvent[]> {
    const last = after === '$' ? this.#lastId : Number(after);
    if (this.#lastId <= last) await this.#bell.wait(limitMs, signal);
    const events = this.#events.filter(({ id }) => id > last);
    return events.map(({ id, fields }) => [String(id), Object.entries(fields).flat().map(String)]);
  }
}

/** Ends waits before their time is over. */
export class Bell {
  readonly #waits = new Set<(rang: boolean) => void>();

  ring(): void {
    for (const end of [...this.#waits]) end(true);
  }

  /** Whether it rang in time; false at once when the signal says that nobody waits any more. */
  wait(limitMs: number, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false);
    return new Promise((resolve) => {
      const end = (rang: boolean): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', give);
        this.#waits.delete(end);
        resolve(rang);
      };
      const give = (): void => end(false);
      const timer = setTimeout(give, limitMs);
      signal.addEventListener('abort', give, { once: true });
      this.#waits.add(end);
    });
  }
}
