import type { EngineDeps } from '../../deps.ts';
import { EXPLICIT_SEQ } from '../../memories/write.ts';
import type { LaneId } from '../../words.ts';
import { projectGraphNow } from '../project.ts';
import type { NewEntity, Statement } from '../words.ts';

/** What an explicit change of a graph works with: nothing that thinks. */
export type GraphWriteDeps = Pick<EngineDeps, 'ledger' | 'tools' | 'log' | 'index' | 'embedder'>;

type Kind = Statement['kind'];
type Of<K extends Kind> = Extract<Statement, { readonly kind: K }>;
/** A statement without what all explicit ones have alike. */
export type Draft = {
  [K in Kind]: Omit<Of<K>, keyof Said> & Partial<Pick<Said, 'quote' | 'messageIds' | 'memoryIds'>>;
}[Kind];
type Said = Pick<Statement, 'id' | 'saidAt' | 'recordedAt' | 'consolidationId' | 'messageIds' | 'memoryIds' | 'quote'>;

/**
 * Statements somebody makes themselves, in their order. Whoever writes explicitly has the last word about these entities,
 * also against messages that claim to come from the future.
 */
export async function saying(
  { ledger, tools }: GraphWriteDeps,
  { lane, about }: { readonly lane: LaneId; readonly about: readonly string[] },
  drafts: readonly Draft[],
): Promise<readonly Statement[]> {
  const known = about.length === 0 ? [] : await ledger.graph.statements(lane, { entities: about });
  const now = tools.now();
  const latest = known.at(-1)?.statement.saidAt.at ?? 0;
  const at = latest < now ? now : latest + 1;
  return drafts.map((draft, i) => ({
    ...{ messageIds: [], memoryIds: [], quote: null },
    ...draft,
    id: tools.id('sta'),
    saidAt: { at, seq: EXPLICIT_SEQ - drafts.length + i + 1 },
    recordedAt: now,
    consolidationId: null,
  }));
}

interface Change {
  readonly entities: readonly NewEntity[];
  readonly statements: readonly Statement[];
}

/** Writes a change and waits to have it found, by its words where the embedder does not answer. 'unprojected': it is stored, and told to the index later. */
export async function written(
  deps: GraphWriteDeps,
  {
    tenant,
    lane,
  }: { readonly tenant: Parameters<GraphWriteDeps['ledger']['graph']['write']>[0]; readonly lane: LaneId },
  change: Change,
): Promise<'written' | 'unprojected' | 'conflict'> {
  const { kind } = await deps.ledger.graph.write(tenant, lane, { ...change, now: deps.tools.now() });
  if (kind === 'conflict') return 'conflict';
  const searchable = await projectGraphNow(deps, lane, 'a graph was changed, but that is not searchable yet');
  return searchable === 'later' ? 'unprojected' : 'written';
}
