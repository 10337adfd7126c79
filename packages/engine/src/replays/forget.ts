import type { EngineDeps } from '../deps.ts';
import { requestErasure } from '../erasure/request-erasure.ts';
import type { Page } from '../ports/ledger/page.ts';
import type { Owner, TenantId } from '../words.ts';
import { spaceOf } from './space.ts';

const PAGE = 100;

/** Who is erased is erased from the shadow spaces of the tenant as well, and from what its replays say of whom they are. */
export async function forgetInReplays(
  deps: Pick<EngineDeps, 'ledger' | 'tools'>,
  tenant: TenantId,
  owner: Owner,
): Promise<void> {
  const { replays, lanes } = deps.ledger;
  for (let page: Page = { limit: PAGE, cursor: null }; ; ) {
    const { results, nextCursor } = await replays.list(tenant, page);
    for (const { id, kind, state } of results) {
      if (kind === 'live' || state === 'discarded') continue;
      const space = spaceOf({ tenant, replay: id });
      if ((await lanes.find(space, owner)) !== null) await requestErasure(deps, space, owner);
    }
    if (nextCursor === null) break;
    page = { ...page, cursor: nextCursor };
  }
  await replays.forget(tenant, owner);
}
