/** What a reader of one language found in a sentence. */
export interface Found {
  readonly text: string;
  readonly category: string;
  /** The resolved day it tells of, YYYY-MM-DD; null when it names none. */
  readonly validFrom: string | null;
}

/** A clause with its date taken apart: rules for lasting states read `without`, those for events read `labelled`. */
export interface Dated {
  readonly raw: string;
  readonly without: string;
  readonly labelled: string;
  readonly validFrom: string | null;
}
