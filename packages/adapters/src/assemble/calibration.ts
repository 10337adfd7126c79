import {
  type Calibration,
  calibrate,
  HASHED,
  keepCalibration,
  knownCalibration,
  LEARNT,
  type Ledger,
  type Log,
  type NearThresholds,
  type Side,
  type Vectors,
} from '@slowwave/engine';
import type { Config } from '../config/index.ts';
import type { OpenEmbedder } from './models.ts';
import { NEAR_HASHED, NEAR_LEARNT } from './settings.ts';
import type { OpenSpace } from './space.ts';

/** How the vectors of the configured embedder read: as they were measured, and until then as those of a small model. */
export interface OpenCalibration {
  vectors(): Vectors;
  near(): NearThresholds;
  /** Measures the embedder where nobody has, in the background, as soon as it answers. Others only look whether it was done. */
  measure(): void;
  close(): Promise<void>;
}

/** The same of the space that each piece of work uses. */
export interface OpenCalibrations extends OpenCalibration {
  of(side: Side): OpenCalibration;
}

/** So often it is looked whether somebody has measured it, or whether it answers. */
const AGAIN_MS = 30_000;

interface Parts {
  readonly ledger: Pick<Ledger, 'models'>;
  readonly embedder: Pick<OpenEmbedder, 'documents' | 'queries'>;
  readonly log: Log;
}

/** Hashed vectors are the same everywhere, and were measured when the product was made. */
const BUILTIN: OpenCalibration = {
  vectors: () => HASHED,
  near: () => NEAR_HASHED,
  measure: () => {},
  close: async () => {},
};

export function openCalibrations(
  config: Config,
  {
    space: { embedder, sides },
    ...parts
  }: Omit<Parts, 'embedder'> & { readonly space: Pick<OpenSpace, 'embedder' | 'sides'> },
): OpenCalibrations {
  const { nextEmbedding } = config;
  if (sides === null || nextEmbedding === null) {
    const only = openCalibration(config, { ...parts, embedder });
    return { ...only, of: () => only };
  }
  const both: Readonly<Record<Side, OpenCalibration>> = {
    from: openCalibration(config, { ...parts, embedder: sides.from.embedder }),
    to: openCalibration(nextEmbedding, { ...parts, embedder: sides.to.embedder }),
  };
  return {
    vectors: () => both[sides.side()].vectors(),
    near: () => both[sides.side()].near(),
    measure: () => {
      both.from.measure();
      both.to.measure();
    },
    close: async () => {
      await both.from.close();
      await both.to.close();
    },
    of: (side) => both[side],
  };
}

const openCalibration = ({ embeddingModel }: Pick<Config, 'embeddingModel'>, parts: Parts): OpenCalibration =>
  embeddingModel === null ? BUILTIN : calibrationOf(parts);

function calibrationOf({ ledger: { models }, embedder, log }: Parts): OpenCalibration {
  const { documents } = embedder;
  const stopped = new AbortController();
  let known: Found | null = null;
  let mayMeasure = false;
  let running = Promise.resolve();
  const look = async (): Promise<void> => {
    const { fingerprint } = documents;
    if (known?.fingerprint === fingerprint) return;
    let calibration = await knownCalibration(models, fingerprint);
    if (calibration === null && mayMeasure) {
      calibration = await calibrate(embedder, stopped.signal);
      if (documents.fingerprint !== fingerprint) return;
      await keepCalibration(models, fingerprint, calibration);
      log.info(told(fingerprint, calibration), 'the embedding model was calibrated');
    }
    known = calibration && { fingerprint, calibration };
  };
  const lookAgain = (): void => {
    running = running.then(look).catch((error: unknown) => {
      if (!stopped.signal.aborted) log.debug({ error: String(error) }, 'the embedding model is not calibrated yet');
    });
  };
  const again = setInterval(lookAgain, AGAIN_MS).unref();
  lookAgain();
  return {
    vectors: () => known?.calibration.vectors ?? LEARNT,
    near: () => (known === null ? NEAR_LEARNT : nearOf(known.calibration)),
    measure: () => {
      mayMeasure = true;
      lookAgain();
    },
    close: async () => {
      clearInterval(again);
      stopped.abort();
      await running;
    },
  };
}

interface Found {
  readonly fingerprint: string;
  readonly calibration: Calibration;
}

const nearOf = ({ near, pair }: Calibration): NearThresholds => ({ ...NEAR_LEARNT, vector: near, pair });

const told = (space: string, { near, vectors, languages }: Calibration) => ({
  ...{ space, near, words: vectors.words },
  knows: languages.filter(({ isKnown }) => isKnown).map(({ language }) => language),
});
