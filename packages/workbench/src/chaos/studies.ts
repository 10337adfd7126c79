import { insist, readAll } from './api.ts';
import type { Stage } from './stage.ts';
import type { Story } from './story.ts';

/** A consolidation whose relations should be kept, and what became of its study; null: it has none. */
export interface Studied {
  readonly consolidation: string;
  readonly study: Study | null;
}

interface Study {
  readonly state: 'pending' | 'applied' | 'parked';
  readonly error: unknown;
  readonly plan: { readonly remarks: readonly { readonly asked: string; readonly did: string }[] } | null;
}

interface Consolidation {
  readonly id: string;
  readonly state: string;
  readonly batch_ids: readonly string[];
}

/** By batch, those of its applied consolidations that should be studied. Batches that were found right are left out. */
export async function studiesOf({ urls }: Stage, story: Story): Promise<ReadonlyMap<string, readonly Studied[]>> {
  const open = story.batches.filter(({ graph, studied }) => graph && !studied);
  if (open.length === 0) return new Map();
  const url = `${urls.console}/v1/consolidations`;
  const all = await readAll<Consolidation>(`${url}?state=applied&user_id=${encodeURIComponent(story.user)}`);
  const wanted = all.filter(({ batch_ids: batches }) => open.some(({ id }) => batches.includes(id)));
  const found = await Promise.all(
    wanted.map(async ({ id, batch_ids: batches }) => ({ batches, consolidation: id, study: await studyOf(url, id) })),
  );
  return new Map(open.map(({ id }) => [id, found.filter(({ batches }) => batches.includes(id))]));
}

async function studyOf(url: string, id: string): Promise<Study | null> {
  const { status, body } = await insist('GET', `${url}/${id}/graph`);
  return status === 200 ? (body as Study) : null;
}
