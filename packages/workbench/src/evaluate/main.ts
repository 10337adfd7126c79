import { openTerminal } from '../terminal.ts';
import { evaluate } from './evaluate.ts';
import { prompts } from './prompts/prompts.ts';
import { retrieval } from './retrieval/retrieval.ts';

const PROGRAMS = { prompts, retrieval };

const [first = '', ...rest] = process.argv.slice(2);
const own = Object.entries(PROGRAMS).find(([name]) => name === first);
const [program, args] = own === undefined ? [evaluate, process.argv.slice(2)] : [own[1], rest];
process.exitCode = await program(args, openTerminal());
