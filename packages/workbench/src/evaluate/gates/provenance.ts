import { type Gate, percent, shareOf } from './gate.ts';

/** G9: behind each memory stands a message that its user posted. */
export const provenance: Gate = ({ evidence, posted }) => {
  const own = new Set(posted.batchIds);
  const misses = evidence.live.flatMap(({ id, memory }) => {
    const sources = (evidence.sources.get(id) ?? []).filter((source) => source.is_source);
    if (sources.length === 0) return [`no message behind: ${memory}`];
    const foreign = sources.some((source) => !own.has(source.batch_id));
    if (foreign) return [`a message of another user behind: ${memory}`];
    return sources.some((source) => source.content.includes(memory)) ? [] : [`no message behind it says: ${memory}`];
  });
  return {
    gate: 'G9',
    what: 'provenance',
    figures: `${percent(1 - shareOf(misses.length, Math.max(evidence.live.length, 1)))} name their source messages`,
    target: '100%',
    passed: misses.length === 0,
    misses,
  };
};
