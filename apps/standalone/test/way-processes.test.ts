import { fourProcesses } from './setups.ts';
import { describeWay } from './way-of-a-batch.ts';

describeWay('in four processes on Redis', fourProcesses, { builtin: false });
