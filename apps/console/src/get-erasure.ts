import { ErasureView } from '@slowwave/contracts';
import { type Erasure, isoOf, isoOrNull, type TenantId } from '@slowwave/engine';
import { type App, IdParams, notFound, requestTenant } from '@slowwave/http';
import type { ConsoleDeps } from './deps.ts';

const schema = {
  operationId: 'getErasure',
  tags: ['manage'],
  summary: 'Get the progress of an erasure',
  params: IdParams,
  response: { 200: ErasureView },
};

export function getErasure(app: App, { ledger }: ConsoleDeps): void {
  app.get('/v1/erasures/:id', { schema }, async (request) => {
    const { id } = request.params;
    const erasure = await ledger.erasures.get(requestTenant(request) as TenantId, id);
    if (erasure === null) throw notFound('erasure', id);
    return viewOf(erasure);
  });
}

const viewOf = ({ id, state, counts, remains, requestedAt, erasedAt }: Erasure): ErasureView => ({
  id,
  state,
  counts: { ...counts },
  remains: [...remains],
  requested_at: isoOf(requestedAt),
  erased_at: isoOrNull(erasedAt),
});
