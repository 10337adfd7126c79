import type { EngineDeps, EngineSettings } from '../deps.ts';
import { asEngineError } from '../errors.ts';
import { askedBy, embedHeld, type Held, inTurn, textHash, withoutVectors } from '../models/embed.ts';
import type { Embedder } from '../ports/models.ts';
import type { IndexPoint, SearchIndex } from '../ports/search-index.ts';
import { type Cancellation, portionsOf } from '../ports/tools.ts';
import { vectorTextOf } from '../projection/make-points.ts';
import type { LaneId } from '../words.ts';

/** An index, and the embedder of its vectors. */
export interface Space {
  readonly index: SearchIndex;
  readonly embedder: Embedder;
}

type WritingDeps = Pick<EngineDeps, 'ledger' | 'tools'> & {
  readonly settings: Pick<EngineSettings, 'messagesInIndex'>;
};

/** Points to be written, and where. */
interface PointsIn {
  readonly space: Space;
  readonly points: readonly IndexPoint[];
  /** What becomes of vectors of messages while an index is filled: memories of the same text share them. */
  readonly spoken?: 'kept' | 'shared' | 'unknown';
}

/** As many as one call of an embedder takes: what was embedded is in the index before the next call. */
const POINTS_PER_CALL = 64;

/**
 * Writes points that were made for another space. No text is embedded twice for one space: the vectors of memories and of the
 * graph are kept in the ledger, and those of messages are taken from the index itself, since a message never changes. So others
 * of this process that write the same texts wait until they are there.
 */
export async function writeIn(
  deps: WritingDeps,
  { space, points, ...how }: PointsIn,
  cancel: Cancellation,
): Promise<void> {
  for (const [lane, ofLane] of Map.groupBy(points, (point) => point.lane)) {
    for (const part of portionsOf(ofLane, POINTS_PER_CALL)) {
      const { embedder } = space;
      const texts = part.filter((point) => isEmbedded(deps, point)).map(vectorTextOf);
      await inTurn({ tools: deps.tools, embedder, lane, texts, cancel }, async (held) => {
        const vectorOf = await vectorsFor(deps, { space, lane, points: part, held, ...how }, cancel);
        await space.index.upsert(part.map((point) => ({ ...point, vector: vectorOf(point) })));
      });
    }
  }
}

interface OfLane extends PointsIn {
  readonly lane: LaneId;
  readonly held: Held;
}

const isMessage = ({ shelf }: IndexPoint): boolean => shelf === 'messages';
const isEmbedded = ({ settings }: WritingDeps, point: IndexPoint): boolean =>
  !isMessage(point) || settings.messagesInIndex === 'hybrid';

async function vectorsFor(
  deps: WritingDeps,
  { space: { index, embedder }, lane, points, held, spoken = 'unknown' }: OfLane,
  cancel: Cancellation,
): Promise<(point: IndexPoint) => Float32Array> {
  const { ledger, tools } = deps;
  const messages = points.filter((point) => isMessage(point) && isEmbedded(deps, point));
  const there = messages.length === 0 ? [] : await index.vectors(messages);
  const made = new Map(messages.flatMap((point, i) => pair(vectorTextOf(point), there[i] ?? null)));
  const texts = points.filter((point) => !isMessage(point)).map(vectorTextOf);
  const passing = messages.map(vectorTextOf).filter((text) => !made.has(text));
  if (spoken !== 'unknown') await shareSpoken(deps, { lane, embedder, texts });
  const vectorOf = await embedHeld({ ledger, tools, embedder }, { lane, texts, passing, made, held }, cancel);
  if (spoken === 'kept')
    await keepSpoken(deps, { lane, embedder, vectors: new Map(passing.map((text) => [text, vectorOf(text)])) });
  const none = new Float32Array(embedder.dimensions);
  return (point) => (isEmbedded(deps, point) ? vectorOf(vectorTextOf(point)) : none);
}

/**
 * What was embedded as a message may be the text of a memory, too, which is written at another time. So vectors of messages are
 * kept under a name of their own, and for no longer than an index is filled.
 */
export const spokenIn = (fingerprint: string): string => `${fingerprint}, messages while it was filled`;

async function shareSpoken(
  { ledger: { thoughts }, tools }: WritingDeps,
  {
    lane,
    embedder: { fingerprint },
    texts,
  }: { readonly lane: LaneId; readonly embedder: Embedder; readonly texts: readonly string[] },
): Promise<void> {
  if (texts.length === 0) return;
  const spoken = await thoughts.vectors(
    lane,
    spokenIn(fingerprint),
    texts.map((text) => textHash(tools, text)),
  );
  if (spoken.size > 0) await thoughts.storeVectors(lane, fingerprint, spoken);
}

async function keepSpoken(
  { ledger: { thoughts }, tools }: WritingDeps,
  {
    lane,
    embedder: { fingerprint },
    vectors,
  }: { readonly lane: LaneId; readonly embedder: Embedder; readonly vectors: ReadonlyMap<string, Float32Array> },
): Promise<void> {
  const made = [...vectors].filter(([, vector]) => askedBy(vector) !== null);
  if (made.length === 0) return;
  await thoughts.storeVectors(
    lane,
    spokenIn(fingerprint),
    new Map(made.map(([text, vector]) => [textHash(tools, text), vector])),
  );
}

const pair = <T>(key: string, value: T | null): [string, T][] => (value === null ? [] : [[key, value]]);

/**
 * The same for whoever writes to another index first, and does not wait for this embedder: where it fails, the points go by
 * their words. Answers with the lanes whose vectors are to be made later.
 */
export async function writeBeside(deps: WritingDeps, of: PointsIn, cancel: Cancellation): Promise<readonly LaneId[]> {
  try {
    await writeIn(deps, of, cancel);
    return [];
  } catch (error) {
    const { code } = asEngineError(error);
    if (code === 'index_unavailable' || code === 'ledger_unavailable') throw error;
    const { ledger, embedder } = withoutVectors({ ...deps, embedder: of.space.embedder });
    await writeIn({ ...deps, ledger }, { ...of, space: { ...of.space, embedder } }, cancel);
    return [...new Set(of.points.map(({ lane }) => lane))];
  }
}
