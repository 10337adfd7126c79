/** Something that must not be. */
export interface Finding {
  readonly kind: FindingKind;
  readonly what: string;
}

export type FindingKind =
  | 'lost'
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
