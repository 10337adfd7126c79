import {
  besideOwner,
  filterableOf,
  idListsOf,
  inApp,
  isUnder,
  type KnownFact,
  liveVersion,
  type Memory,
  type Millis,
  matches,
  ownerOf,
  type SectionName,
  scopeOf,
  shownVersion,
  type ToldFact,
  type ToldLine,
} from '@slowwave/engine';
import type { SearchDeps } from '../deps.ts';
import type { ContextQuestion } from './context.ts';

/** The moment that a context is asked about. */
export const momentOf = ({ tools }: Pick<SearchDeps, 'tools'>, { body }: Pick<ContextQuestion, 'body'>): Millis =>
  body.as_of === undefined ? tools.now() : Date.parse(body.as_of);

/** What memories of the owner say at that moment, as far as they fit what is asked; as said in the app, if the key is bound to one. */
export async function knownOf(
  deps: Pick<SearchDeps, 'ledger' | 'tools'>,
  question: ContextQuestion,
  ids: readonly string[],
): Promise<ReadonlyMap<string, KnownFact>> {
  const memories = ids.length === 0 ? [] : await deps.ledger.memories.many(question.tenant, ids);
  const at = momentOf(deps, question);
  return new Map(memories.flatMap((memory) => factOf(memory, question, at) ?? []).map((fact) => [fact.memoryId, fact]));
}

function factOf(memory: Memory, { body, where, app }: ContextQuestion, at: Millis): KnownFact | null {
  const known = app === null ? memory : inApp(memory, app);
  const owner = ownerOf(scopeOf(body));
  if (known === null || known.owner.kind !== owner.kind || known.owner.id !== owner.id) return null;
  if (liveVersion(known) === null || !isUnder(idListsOf(known), besideOwner(scopeOf(body)))) return null;
  if (where !== null && !matches(where, filterableOf(known))) return null;
  const { number: version, text, saidAt, validFrom, invalidAt, details } = shownVersion(known, at);
  const ends = [invalidAt, details.expiresAt].filter((end) => end !== null);
  if (ends.some((end) => end <= at)) return null;
  const { utcOffset } = details;
  const said = { saidAt: saidAt.at, validFrom, ...(utcOffset !== undefined && { utcOffset }) };
  return { memoryId: known.id, version, text, ...said };
}

/** What the last context of the conversation told of these sections, with what it says now. */
export async function toldBefore(
  deps: SearchDeps,
  question: ContextQuestion,
  sections: readonly SectionName[],
): Promise<readonly ToldFact[]> {
  const { tenant, body } = question;
  if (body.conversation_id === undefined) return [];
  const told = await deps.ledger.present.told(tenant, ownerOf(scopeOf(body)), body.conversation_id);
  const ids = told.map(({ memoryId }) => memoryId);
  const known = await knownOf(deps, question, ids);
  return told.map((line): ToldFact => {
    const fact = known.get(line.memoryId);
    const holds = fact?.version === line.version && sections.includes(line.section);
    return { ...line, fact: holds ? fact : null };
  });
}

/** Notes what the conversation was told. Nobody waits for it: without it the next context begins anew. */
export function tell({ ledger, tools, log }: SearchDeps, question: ContextQuestion, told: readonly ToldLine[]): void {
  const { tenant, body } = question;
  if (body.conversation_id === undefined) return;
  const telling = { conversation: body.conversation_id, told, now: tools.now() };
  ledger.present.tell(tenant, ownerOf(scopeOf(body)), telling).catch((error: unknown) => {
    log.warn({ err: error }, 'could not note what a conversation was told');
  });
}
