/** An entity by its name, as a rule found it. */
export interface Named {
  readonly name: string;
  readonly kind: 'person' | 'animal' | 'organisation' | 'place' | 'product' | 'activity' | 'concept' | 'thing';
}

/** A relation of a subject, as a rule found it. */
export interface Predicated {
  readonly relationship: string;
  readonly destination: Named;
  readonly said: 'holds' | 'ended';
  /** It held in the past only. */
  readonly past?: boolean;
}

/** The user, under the name that the engine knows. */
export const USER: Named = { name: 'user', kind: 'person' };

/** A relation with its subject. */
export interface Triple extends Predicated {
  readonly source: Named;
}

/** What a sentence tells: relations, and a name of the user. */
export interface Telling {
  readonly triples: readonly Triple[];
  readonly userNames: readonly string[];
}
