import type { Memory } from '@slowwave/sdk';
import { useEffect, useMemo, useState } from 'react';
import type { Owner } from '../../owner.ts';
import { useLater } from '../../ui/reading.ts';
import { useMemories } from './memories.ts';

interface Moving {
  readonly owner: Owner;
  /** The moment that the page shows; null: now. */
  readonly asOf: string | null;
  readonly move: (moment: string | null) => void;
}

const EXACT = new Intl.DateTimeFormat('en', { dateStyle: 'long', timeStyle: 'short' });

/**
 * Moves the page through time. Each step of the slider is a moment at which something was said or changed: years of silence take no
 * room, and busy days can be gone through one change at a time.
 */
export function Timeline({ owner, asOf, move }: Moving) {
  const { memories } = useMemories(owner, null);
  const moments = useMemo(() => momentsOf(memories ?? [], new Date().toISOString()), [memories]);
  const [place, setPlace] = useState<number | null>(null);
  const asked = useLater(place);
  useEffect(() => {
    if (asked === null) return;
    move(moments[asked] ?? null);
    setPlace(null);
    // Only what somebody moved counts, not that more memories have arrived meanwhile.
  }, [asked]);
  if (moments.length === 0) return null;
  const shown = place === null ? asOf : (moments[place] ?? null);
  return (
    <section className="card" aria-label="Time">
      <div className="row">
        <label htmlFor="as-of">As of {shown === null ? 'now' : EXACT.format(new Date(shown))}</label>
        <button type="button" className="push" disabled={asOf === null} onClick={() => move(null)}>
          Back to now
        </button>
      </div>
      <input
        id="as-of"
        type="range"
        min={0}
        max={moments.length}
        value={place ?? placeOf(moments, asOf)}
        aria-valuetext={shown === null ? 'now' : EXACT.format(new Date(shown))}
        onChange={({ target }) => setPlace(Number(target.value))}
      />
    </section>
  );
}

/** When something began to hold or was said, in order. */
const momentsOf = (memories: readonly Memory[], now: string): readonly string[] =>
  [...new Set(memories.flatMap(({ valid_from, created_at, updated_at }) => [valid_from, created_at, updated_at]))]
    .filter((moment) => moment <= now)
    .sort();

function placeOf(moments: readonly string[], asOf: string | null): number {
  if (asOf === null) return moments.length;
  const later = moments.findIndex((moment) => moment > asOf);
  return Math.max(0, (later < 0 ? moments.length : later) - 1);
}
