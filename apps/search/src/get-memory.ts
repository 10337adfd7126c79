import { MemoryView } from '@slowwave/contracts';
import { deletedAt, liveVersion, memoryView, shownVersion } from '@slowwave/engine';
import { type App, IdParams, problem } from '@slowwave/http';
import type { SearchDeps } from './deps.ts';
import { existing } from './existing.ts';

const schema = {
  operationId: 'getMemory',
  tags: ['memories'],
  summary: 'One memory',
  description:
    'Returns its current version, as in search results. A change that takes effect later is only in the ' +
    'history until then.',
  params: IdParams,
  response: { 200: MemoryView },
};

export function getMemory(app: App, { ledger, tools }: SearchDeps): void {
  app.get('/v1/memories/:id', { schema, config: { bounds: { by: 'found', apps: true } } }, async (request) => {
    const { id } = request.params;
    const memory = await existing(ledger, request, id);
    if (liveVersion(memory) !== null) return memoryView(memory, shownVersion(memory, tools.now()));
    const what = deletedAt(memory) === null ? 'undone' : 'deleted';
    throw problem('not_found', `memory ${id} was ${what}; see /v1/memories/${id}/history`);
  });
}
