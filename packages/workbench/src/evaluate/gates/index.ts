import { calls } from './calls.ts';
import { conservation } from './conservation.ts';
import { finalState } from './final-state.ts';
import type { Gate } from './gate.ts';
import { history } from './history.ts';
import { provenance } from './provenance.ts';
import { questions } from './questions.ts';
import { time } from './time.ts';

/** In the order of the table. */
export const GATES: readonly Gate[] = [finalState, questions, history, provenance, conservation, calls, time];
