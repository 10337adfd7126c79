import type { TenantSettings } from '../../settings.ts';
import type { TenantId } from '../../words.ts';

export interface SettingsStore {
  /** What the tenant has chosen; the defaults where it has chosen nothing. */
  get(tenant: TenantId): Promise<TenantSettings>;
  /** Replaces all of it. */
  put(tenant: TenantId, settings: TenantSettings): Promise<void>;
}
