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
