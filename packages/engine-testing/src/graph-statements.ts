import type {
  ApartStatement,
  DeniedStatement,
  EndedStatement,
  HoldsStatement,
  NamedStatement,
  NewEntity,
  SameStatement,
  Statement,
  Tools,
} from '@slowwave/engine';
import { bitsOf } from './builders.ts';

/** What a test says of a statement beside its ends. */
type Given<T extends Statement> = Partial<Omit<T, 'kind'>>;

export const newEntity = (id: string, given: Partial<NewEntity> = {}): NewEntity => ({
  id,
  name: id,
  kind: 'person',
  self: false,
  ...given,
});

/** Statements that are recorded now and said at the same moment, explicit unless a consolidation is given. */
export function statementsBy(tools: Tools) {
  let seq = 0;
  const said = () => {
    seq += 1;
    const now = tools.now();
    return {
      id: tools.id('sta', bitsOf(tools)),
      saidAt: { at: now, seq },
      recordedAt: now,
      consolidationId: null,
      messageIds: [],
      memoryIds: [],
      quote: null,
    };
  };
  /** 'Ana works_at Acme' */
  const ends = (text: string) => {
    const [source = '', relationship = '', destination = ''] = text.split(' ');
    return { source, relationship, destination };
  };
  const timed = { until: null, single: false };
  return {
    holds: (text: string, given: Given<HoldsStatement> = {}): HoldsStatement => ({
      ...{ kind: 'holds', ...said(), ...ends(text), ...timed, validFrom: tools.now() },
      ...given,
    }),
    ended: (text: string, given: Given<EndedStatement> = {}): EndedStatement => ({
      ...{ kind: 'ended', ...said(), ...ends(text), at: tools.now(), reason: 'a test says so' },
      ...given,
    }),
    denied: (text: string, given: Given<DeniedStatement> = {}): DeniedStatement => ({
      ...{ kind: 'denied', ...said(), ...ends(text) },
      ...given,
    }),
    same: (source: string, destination: string, given: Given<SameStatement> = {}): SameStatement => ({
      ...{ kind: 'same', ...said(), source, destination, reason: 'a test says so' },
      ...given,
    }),
    apart: (source: string, given: Given<ApartStatement> = {}): ApartStatement => ({
      ...{ kind: 'apart', ...said(), source },
      ...given,
    }),
    named: (source: string, name: string, given: Given<NamedStatement> = {}): NamedStatement => ({
      ...{ kind: 'named', ...said(), source, name },
      ...given,
    }),
  };
}
