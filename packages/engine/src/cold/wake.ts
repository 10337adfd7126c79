import { EngineError } from '../errors.ts';
import type { Segment } from '../ports/ledger/owners-away.ts';
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
  const { cold, index, log } = deps;
  const segment = await cold.get(name);
  if (segment === null || segment.state === 'dropped' || segment.state === 'written') return false;
  if (segment.state === 'cooling') await removeRows(deps, segment, cancel);
  const content = await segmentContent(deps, segment);
  const told = (await tellIndex(deps, content)) ? content.told : null;
  const woke =
    (await restored(deps, segment, { content, told })) || (await takenBack(deps, segment, { content, told }));
  if (woke) log.info({ segment: name, memories: segment.memories }, 'an owner woke');
  // Erased by now: whoever erases it may have passed the index already. Or awake thanks to somebody else, who has told the index the same.
  else if (!(await deps.ledger.erasures.standing(segment.lane))) await index.forget(segment);
  return woke;
}

interface Waking {
  readonly content: SegmentContent;
  readonly told: SegmentContent['told'] | null;
}

/** Of most owners all lines go in one transaction. */
async function restored(
  { cold, tools, linesAtOnce = LINES }: ColdDeps,
  { name, state }: Segment,
  { content: { lines }, told }: Waking,
): Promise<boolean> {
  if (state === 'waking' || lines.length > linesAtOnce) return false;
  return (await cold.restore(name, { lines, told, now: tools.now() })) === 'woken';
}

/** Some lines at a time, from where somebody else has stopped. */
async function takenBack(deps: ColdDeps, { name }: Segment, { content, told }: Waking): Promise<boolean> {
  const { cold, tools } = deps;
  const begun = await cold.wake(name, tools.now());
  if (begun === null || !(await takeLines(deps, { name, content, from: begun.taken }))) return false;
  return cold.woken(name, { told, now: tools.now() });
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
  { bundles, linesAtOnce = LINES }: ColdDeps,
  {
    name,
    content: { lines },
    from,
  }: { readonly name: string; readonly content: SegmentContent; readonly from: number },
): Promise<boolean> {
  for (let taken = from; taken < lines.length; ) {
    const step = await bundles.take(name, taken, lines.slice(taken, taken + linesAtOnce));
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
