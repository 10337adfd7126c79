import { Bell } from './bell.ts';

/** As the library keeps them: an id, then names and values in turns. */
export type StoredEvent = [id: string, fields: string[]];

/** Where nobody says how many. */
const LENGTH = 1_000;

/** The last events of a queue. They are for views: nothing is driven by them. */
export class EventHistory {
  readonly #bell = new Bell();
  #events: StoredEvent[] = [];
  #lastId = 0;

  add(fields: Readonly<Record<string, string | number>>, length = LENGTH): string {
    this.#lastId += 1;
    const event: StoredEvent = [String(this.#lastId), Object.entries(fields).flat().map(String)];
    this.#events.push(event);
    if (this.#events.length > length) this.trim(length);
    this.#bell.ring();
    return event[0];
  }

  /** Removes all but the last. */
  trim(length: number): number {
    const before = this.#events.length;
    this.#events = length === 0 ? [] : this.#events.slice(-length);
    return before - this.#events.length;
  }

  /** Those after the id; waits for one if there is none yet. '$' stands for the last one there is. */
  async after(id: string, limitMs: number, signal: AbortSignal): Promise<readonly StoredEvent[]> {
    const last = id === '$' ? this.#lastId : Number(id);
    if (this.#lastId <= last) await this.#bell.wait(limitMs, signal);
    return this.#events.filter(([eventId]) => Number(eventId) > last);
  }
}
