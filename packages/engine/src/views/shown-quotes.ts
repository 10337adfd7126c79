import { quoteShown } from '../memories/forgotten.ts';
import type { HeldOperation } from '../plan.ts';
import type { Ledger } from '../ports/ledger/ledger.ts';
import { isWithheld, type TenantId } from '../words.ts';

/**
 * Operations of reviews as they are shown: without quotes that span what their messages hide by now. Of a message that is not
 * kept nobody can tell what it hid.
 */
export async function withShownQuotes(
  { ledger }: { readonly ledger: { readonly memories: Pick<Ledger['memories'], 'messages'> } },
  tenant: TenantId,
  operations: readonly HeldOperation[],
): Promise<readonly HeldOperation[]> {
  const ids = operations.flatMap((one) => [one, ...(one.repeats ?? [])].flatMap(({ sourceIds }) => sourceIds));
  if (ids.length === 0) return operations;
  const messages = await ledger.memories.messages(tenant, [...new Set(ids)]);
  const beside = (sourceIds: readonly string[]) =>
    sourceIds
      .flatMap((id) => messages.get(id) ?? [])
      .map(({ content, hidden }) => ({ content, hidden: hidden === true || isWithheld(content) }));
  const shown = <One extends Pick<HeldOperation, 'details' | 'sourceIds'>>(one: One): One => {
    const { details, sourceIds } = one;
    return details === null
      ? one
      : { ...one, details: { ...details, quote: quoteShown(details.quote, beside(sourceIds)) } };
  };
  return operations.map((operation) => {
    const { repeats } = operation;
    return { ...shown(operation), ...(repeats !== undefined && { repeats: repeats.map(shown) }) };
  });
}
