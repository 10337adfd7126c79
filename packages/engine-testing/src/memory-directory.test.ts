import { describeDirectory } from './directory-suite.ts';
import { memoryDirectory } from './memory-directory.ts';

describeDirectory('the directory in memory', async () => memoryDirectory());
