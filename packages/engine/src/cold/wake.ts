import { EngineError } from '../errors.ts';
import type { Segment } from '../ports/ledger/cold.ts';
import type { SegmentContent } from '../ports/segments.ts';
import { type Cancellation, portionsOf } from '../ports/tools.ts';
import { type ColdDeps, removeRows } from './cool.ts';

/** Lines that are stored in one transaction: as long as others can wait for it. */
const LINES = 2_000;
/** Points that go to the index together. */
const POINTS = 200;

/**
 * Has an owner back as it was: nobody sees anything of it until all is there, and searches find it from then on. Can be done again, by
 * anybody, at any time: it goes on where it was. false: it is not asleep, or is being erased.
 */
export async function wakeOwner(deps: ColdDeps, name: string, cancel: Cancellation): Promise<boolean> {
  const { cold, tools, index, log } = deps;
  const segment = await cold.get(name);
  if (segment === null) return false;
  if (segment.state === 'cooling') await removeRows(deps, segment, cancel);
  const begun = await cold.wake(name, tools.now());
  if (begun === null) return false;
  const content = await segmentContent(deps, segment);
  if (!(await takeLines(deps, { name, content, from: begun.taken }))) return false;
  const told = await tellIndex(deps, content);
  if (await cold.woken(name, { told: told ? content.told : null, now: tools.now() })) {
    log.info({ segment: name, memories: segment.memories }, 'an owner woke');
    return true;
  }
  // Awake by now thanks to somebody else, or erased: whoever erases it may have passed the index already.
  if (!(await deps.ledger.erasures.standing(segment.lane))) await index.forget(segment);
  return false;
}

/** The content of a segment that an owner needs. Throws where it is not there. */
export async function segmentContent(
  { segments }: Pick<ColdDeps, 'segments'>,
  { name, lines }: Pick<Segment, 'name' | 'lines'>,
): Promise<SegmentContent> {
  const content = await segments.get(name);
  if (content?.lines.length === lines) return content;
  const got = content === null ? 'none' : `${content.lines.length}`;
  throw new EngineError(
    `expected the segment ${name} with ${lines} lines, got ${got}; restore it from the backup of the segments, or erase its owner`,
    { code: 'segment_unavailable', retryable: true },
  );
}

async function takeLines(
  { bundles }: Pick<ColdDeps, 'bundles'>,
  {
    name,
    content: { lines },
    from,
  }: { readonly name: string; readonly content: SegmentContent; readonly from: number },
): Promise<boolean> {
  for (let taken = from; taken < lines.length; ) {
    const step = await bundles.take(name, taken, lines.slice(taken, taken + LINES));
    if (step.kind === 'gone') return false;
    if (step.kind === 'damaged' || step.kind === 'refused') {
      const what = step.kind === 'damaged' ? `expected the checksum ${step.expected}, got ${step.got}` : step.problem;
      throw new EngineError(`line ${step.line} of the segment ${name} cannot be stored: ${what}`, {
        code: 'segment_unavailable',
        retryable: false,
      });
    }
    taken = step.taken;
  }
  return true;
}

/** Before anybody searches the index for it. false: its vectors are those of another embedder, and it is embedded anew. */
async function tellIndex({ index }: Pick<ColdDeps, 'index'>, { points, space }: SegmentContent): Promise<boolean> {
  if ((await index.marker())?.fingerprint !== space) return false;
  for (const some of portionsOf(points, POINTS)) await index.upsert(some);
  return true;
}
