import type { Ceilings, TenantSettings } from '../../settings.ts';
import type { TenantId } from '../../words.ts';

export interface SettingsStore {
  /** What the tenant has chosen; the defaults where it has chosen nothing. */
  get(tenant: TenantId): Promise<TenantSettings>;
  /** Replaces all of it. */
  put(tenant: TenantId, settings: TenantSettings): Promise<void>;
  /** What the operator has set for this tenant; null: nothing, and what holds for all counts. */
  ceilings(tenant: TenantId): Promise<Ceilings | null>;
  putCeilings(tenant: TenantId, ceilings: Ceilings | null): Promise<void>;
}
