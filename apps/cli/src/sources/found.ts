/** Who something belongs to, as batches name it: user_id, agent_id, run_id. */
export type Ids = Readonly<Record<string, string>>;

/** A stored fact of another system, in its words. */
export interface Fact {
  readonly id: string;
  readonly ids: Ids;
  readonly text: string;
  /** Since when it holds, or when it was said; null: the source does not say. */
  readonly at: string | null;
  readonly expiresAt: string | null;
  readonly metadata: Fields;
}

export interface Said {
  readonly id: string;
  readonly role: 'user' | 'assistant';
  readonly text: string;
  readonly at: string | null;
}

/** A conversation, which is read by the model as it would have been then. */
export interface Talk {
  readonly id: string;
  readonly ids: Ids;
  readonly title: string | null;
  readonly messages: readonly Said[];
}

export interface Relation {
  readonly ids: Ids;
  readonly source: string;
  readonly relationship: string;
  readonly destination: string;
  readonly from: string | null;
  readonly until: string | null;
  readonly quote: string | null;
}

/** What stays where it is. */
export interface Left {
  readonly what: string;
  readonly count: number;
  readonly why: string;
}

/** What a file of another system has. */
export interface Found {
  readonly facts: readonly Fact[];
  readonly talks: readonly Talk[];
  readonly relations: readonly Relation[];
  readonly left: readonly Left[];
  /** What such files do not have at all. */
  readonly lacks: readonly string[];
  /** Whether facts were already made of the conversations, so that reading them again mostly confirms. */
  readonly isRead: boolean;
}

/** Files by their names, parsed. */
export type Files = ReadonlyMap<string, unknown>;

/** Reads files of one system. `user`: who they are about, where they do not say. Throws a text of what is expected where nothing fits. */
export type Reader = (files: Files, user: string | null) => Found;

export type Fields = Readonly<Record<string, unknown>>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const listOf = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value.filter(isFields) : []);

/** The first of these fields that has a text. */
export function textIn(item: Fields, ...names: readonly string[]): string | null {
  for (const name of names) {
    const value = item[name];
    if (typeof value === 'string' && value.trim() !== '') return value.trim();
  }
  return null;
}

const SECOND_MS = 1_000;
/** Larger numbers are milliseconds. */
const SECONDS_MAX = 1e11;

/** A time in any of the forms that exports have: ISO 8601, or seconds or milliseconds since 1970. */
export function momentIn(item: Fields, ...names: readonly string[]): string | null {
  for (const name of names) {
    const value = item[name];
    if (typeof value !== 'string' && typeof value !== 'number') continue;
    const at = typeof value === 'number' && value < SECONDS_MAX ? value * SECOND_MS : value;
    const time = new Date(at).getTime();
    if (!Number.isNaN(time)) return new Date(time).toISOString();
  }
  return null;
}

/** Counts what stays, by what it is and why. */
export function leaving() {
  const left = new Map<string, Left>();
  return {
    add: (what: string, why: string, count = 1): void => {
      const key = `${what}: ${why}`;
      left.set(key, { what, why, count: (left.get(key)?.count ?? 0) + count });
    },
    all: (): readonly Left[] => [...left.values()].filter(({ count }) => count > 0),
  };
}

/** Who owns what does not name anybody. */
export function ownerOf(user: string | null, what: string): Ids {
  if (user === null) throw new Error(`${what} does not name the user of the memory; set it with --user`);
  return { user_id: user };
}

const BULLET = /^\s*(?:[-*•+]|\d+[.)])\s+/u;
/** What is not known is no fact. */
const UNKNOWN = /:\s*(?:\?|unknown|n\/a|none)?\s*$/iu;
const HEADING = /^\s*(?:#{1,6}\s|\*\*[^*]+\*\*\s*$|=+$|-+$)/u;

/** The statements of a free text: its lines, without headings and what is only a name for the next lines. */
export const statementsIn = (text: string): readonly string[] =>
  text
    .split(/\r?\n/u)
    .filter((line) => line.trim() !== '' && !HEADING.test(line) && !UNKNOWN.test(line))
    .map((line) => line.replace(BULLET, '').trim());
