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
  // As a search at that moment: what is to come is shown since it was said.
  if (body.as_of !== undefined && Math.min(validFrom, saidAt.at) > at) return null;
  const ends = [invalidAt, details.expiresAt].filter((end) => end !== null);
  if (ends.some((end) => end <= at)) return null;
  const { utcOffset, concluded, skill } = details;
  const said = { saidAt: saidAt.at, validFrom, ...(utcOffset !== undefined && { utcOffset }) };
  const standing = {
    ...(concluded && { certainty: concluded.certainty }),
    ...(skill && { successes: skill.successes }),
  };
  return { memoryId: known.id, version, text, ...said, ...standing };
}

/** A line that was told, and what it says now. A receipt does not say in which section it stood: null. */
type Before = Omit<ToldFact, 'section'> & { readonly section: ToldFact['section'] | null };

/** What the context before this one told. */
export async function toldBefore(deps: SearchDeps, question: ContextQuestion): Promise<readonly Before[]> {
  const told = await linesBefore(deps, question);
  const ids = told.map(({ memoryId }) => memoryId);
  const known = await knownOf(deps, question, ids);
  return told.map((line) => {
    const fact = known.get(line.memoryId);
    return { ...line, fact: fact?.version === line.version ? fact : null };
  });
}

async function linesBefore(
  { ledger }: SearchDeps,
  question: ContextQuestion,
): Promise<readonly (Pick<Before, 'section'> & Omit<ToldLine, 'section'>)[]> {
  const { tenant, body, app } = question;
  const name = nameOf(app, body.conversation_id, body.after);
  if (name === null) return [];
  const told = await ledger.present.told(tenant, ownerOf(scopeOf(body)), name);
  if (told.length > 0 || body.after === undefined) return told;
  const [receipt, lane] = await Promise.all([ledger.receipts.get(tenant, body.after), question.living]);
  if (receipt === null || receipt.lane !== lane?.id || !question.mayRead(receipt)) return [];
  return receipt.told.flatMap((one) =>
    one.kind === 'memory' ? [{ memoryId: one.id, version: one.version, section: null, turns: 0 }] : [],
  );
}

/** The lines in the sections that are asked for. What stands before all other memories and is in the profile stood there. */
export function placed(
  before: readonly Before[],
  profile: readonly KnownFact[],
  sections: readonly SectionName[],
): readonly ToldFact[] {
  const lasting = new Set(profile.map(({ memoryId }) => memoryId));
  const first = before.findIndex(({ memoryId }) => !lasting.has(memoryId));
  return before.map((line, i): ToldFact => {
    const section = line.section ?? (first === -1 || i < first ? 'profile' : 'memories');
    return { ...line, section, fact: sections.includes(section) ? line.fact : null };
  });
}

/**
 * Under what name it is kept what was told: that of the conversation, or of the receipt of the answer. A key for one app has
 * names of its own: it is not to learn from the order of lines what others were told.
 */
function nameOf(
  app: string | null,
  conversation: string | undefined,
  receipt: string | null | undefined,
): string | null {
  const told = app === null ? '' : `app ${JSON.stringify(app)} `;
  if (conversation !== undefined) return `${told}conversation ${conversation}`;
  return receipt === undefined || receipt === null ? null : `${told}receipt ${receipt}`;
}

interface Telling {
  readonly told: readonly ToldLine[];
  readonly receiptId: string | null;
}

/**
 * Notes what the conversation was told. Nobody waits for it: without it the next context begins as this one did, or anew. Of
 * the first one before others the receipt alone says enough.
 */
export function tell({ ledger, tools, log, mayTell }: SearchDeps, question: ContextQuestion, telling: Telling): void {
  const { tenant, body, app } = question;
  const name = nameOf(app, body.conversation_id, body.after === undefined ? null : telling.receiptId);
  if (name === null || !mayTell()) return;
  const noted = { conversation: name, told: telling.told, now: tools.now() };
  ledger.present.tell(tenant, ownerOf(scopeOf(body)), noted).catch((error: unknown) => {
    log.warn({ err: error }, 'could not record the context of a conversation');
  });
}
