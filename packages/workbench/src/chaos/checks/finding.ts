/** Something that must not be. */
export interface Finding {
  readonly kind: FindingKind;
  readonly what: string;
}

export type FindingKind =
  | 'lost'
  /** Given up after all tries, though a model takes it. It is kept, and can be replayed. */
  | 'parked'
  | 'doubled'
  | 'wrong'
  | 'gap'
  | 'order'
  | 'replay'
  | 'index'
  | 'leak'
  | 'paid twice'
  | 'doctor'
  | 'stuck'
  | 'process';
