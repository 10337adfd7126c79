import type { Stored, StoredAnswer, Study } from '@slowwave/engine';
import { writeGraph as writing } from '../../../ledger/graph/changes.ts';
import * as studies from '../../../ledger/graph/studies.ts';
import * as tellings from '../../../ledger/graph/tellings.ts';
import { keepAnswer } from '../../../ledger/thoughts.ts';
import { runScript } from '../script.ts';
import type { Sql } from '../sql.ts';

type Input<F extends (input: never) => unknown> = Parameters<F>[0];

export const writeGraph = (sql: Sql, input: Input<typeof writing>) => runScript(sql, writing(input));

export const claimStudy = (sql: Sql, input: Input<typeof studies.claimStudy>) =>
  runScript(sql, studies.claimStudy(input));

export const applyStudy = (sql: Sql, input: Input<typeof studies.applyStudy>) =>
  runScript(sql, studies.applyStudy(input));

export const failStudy = (sql: Sql, input: Input<typeof studies.failStudy>) => runScript(sql, studies.failStudy(input));

export const releaseStudy = (sql: Sql, input: Input<typeof studies.releaseStudy>) =>
  runScript(sql, studies.releaseStudy(input));

export const requestStudy = (sql: Sql, input: Input<typeof studies.requestStudy>) =>
  runScript(sql, studies.requestStudy(input));

export const tellGraph = (sql: Sql, input: Input<typeof tellings.tellGraph>) =>
  runScript(sql, tellings.tellGraph(input));

export const refillGraph = (sql: Sql, input: Input<typeof tellings.refillGraph>) =>
  runScript(sql, tellings.refillGraph(input));

/** Keeps the answer of a study among those of its consolidation. */
export function storeStudyAnswer(sql: Sql, { study, answer }: { study: Study; answer: StoredAnswer }): Stored {
  if (!runScript(sql, studies.holdsStudy(study))) return { kind: 'fenced' };
  runScript(sql, keepAnswer(study, answer));
  return { kind: 'stored' };
}
