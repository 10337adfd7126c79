import { EngineError } from '@slowwave/engine';

/** Conditional upserts and weighted sparse vectors are as this adapter needs them from here on. */
const OLDEST = { major: 1, minor: 18 };
/** From here on a question can say over which points the rarity of a term is counted. */
const TENANT_STATISTICS = { major: 1, minor: 19 };

type Version = typeof OLDEST;

export interface Abilities {
  /** The rarity of a term can be counted over one tenant's points. */
  readonly tenantStatistics: boolean;
}

/** What a server of some version can do; throws for one that is too old. */
export function abilitiesOf(version: unknown, place: string): Abilities {
  const [, major, minor] = /^v?(\d+)\.(\d+)/.exec(typeof version === 'string' ? version : '') ?? [];
  if (major === undefined || minor === undefined) throw refused(place, 'a server that tells no version');
  const given = { major: Number(major), minor: Number(minor) };
  if (!atLeast(given, OLDEST)) throw refused(place, String(version));
  return { tenantStatistics: atLeast(given, TENANT_STATISTICS) };
}

const atLeast = (given: Version, wanted: Version): boolean =>
  given.major > wanted.major || (given.major === wanted.major && given.minor >= wanted.minor);

function refused(place: string, got: string): EngineError {
  return new EngineError(
    `expected Qdrant ${OLDEST.major}.${OLDEST.minor} or newer at ${place}, got ${got}; upgrade the server or correct QDRANT_URL`,
    { code: 'index_unavailable', retryable: false },
  );
}
