import { standalone } from './setups.ts';
import { describeWay } from './way-of-a-batch.ts';

describeWay('in one process with its own queue', standalone, { builtin: true });
