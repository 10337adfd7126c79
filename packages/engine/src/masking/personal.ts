import { type PersonalKind, personalPlaces } from './forms.ts';
import { replaced } from './replaced.ts';

/** A text with everything personal in it masked, and what that was. Masking twice changes nothing more. */
export function maskPersonal(text: string): { readonly text: string; readonly kinds: readonly PersonalKind[] } {
  const { text: masked, found } = replaced(text, personalPlaces(text), (kind) => `[${kind}]`);
  return { text: masked, kinds: found };
}
