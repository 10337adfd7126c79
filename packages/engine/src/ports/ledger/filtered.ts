import type { Filter } from '../../search/filter/filter.ts';
import type { Memory, Millis, Scope, TenantId } from '../../words.ts';
import type { Page, Paged } from './page.ts';

/** Which memories of an owner are asked for. */
export interface FilteredList {
  readonly scope: Scope;
  readonly where: Filter;
  /** Leaves out the expired. */
  readonly now: Millis;
}

/** Lists of what a filter is true of. */
export interface FilteredStore {
  /** As MemoryStore lists them: live memories of an owner, newest first; each page as full as it can be. */
  list(tenant: TenantId, asked: FilteredList, page: Page): Promise<Paged<Memory>>;
}
