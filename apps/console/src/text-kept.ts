import { type JsonObject, type Ledger, maskPersonal, metadataKept, type TenantId } from '@slowwave/engine';
import { problem } from '@slowwave/http';

/** The text of a memory as the tenant's policy for personal data lets it be stored; refused where it does not. */
export async function textKept(ledger: Pick<Ledger, 'settings'>, tenant: TenantId, text: string): Promise<string> {
  const { personalData } = await ledger.settings.get(tenant);
  if (personalData === 'off') return text;
  const { text: masked, kinds } = maskPersonal(text);
  if (personalData === 'mask' || kinds.length === 0) return masked;
  const message = `expected a text without personal data, got ${[...new Set(kinds)].join(', ')}; remove it`;
  throw problem('unsupported_content', `memory: ${message} (see personal_data in /v1/settings)`, {
    errors: [{ path: 'memory', message }],
  });
}

/** The same of metadata, whose values are masked: leaving them out would not be what was asked for. */
export async function metadataAllowed(
  ledger: Pick<Ledger, 'settings'>,
  tenant: TenantId,
  metadata: JsonObject,
): Promise<JsonObject> {
  const { personalData } = await ledger.settings.get(tenant);
  return personalData === 'off' ? metadata : metadataKept(metadata);
}
