import { estimatingTokenizer } from './estimating-tokenizer.ts';
import { describeTokenizer } from './tokenizer-suite.ts';

describeTokenizer('estimate', () => estimatingTokenizer);
