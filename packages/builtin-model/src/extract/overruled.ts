import { statementOf } from '../decide/statement.ts';

/** "I don't live in Oslo, I live in Bergen": the second says it all. */
export function withoutOverruled<T extends { readonly text: string }>(facts: readonly T[]): readonly T[] {
  const statements = facts.map(({ text }) => statementOf(text));
  return facts.filter((_fact, i) => {
    const denied = statements[i];
    if (denied === undefined || denied.positive) return true;
    const attributes = denied.slots.filter(({ single }) => single).map(({ attribute }) => attribute);
    const later = statements.filter((other, j) => j !== i && other.positive);
    return !later.some(({ slots }) => slots.some(({ attribute }) => attributes.includes(attribute)));
  });
}
