import type { Mode } from '../stage.ts';
import type { Fault } from './fault.ts';
import { PROCESS_FAULTS } from './processes.ts';
import { STORE_FAULTS } from './stores.ts';
import { MODEL_FAULTS } from './storms.ts';
import { USER_FAULTS } from './users.ts';

/** Every kind of fault that a mode can have. */
export const faultsOf = (mode: Mode): readonly Fault[] =>
  [...PROCESS_FAULTS, ...STORE_FAULTS, ...MODEL_FAULTS, ...USER_FAULTS].filter(({ modes }) => modes.includes(mode));
