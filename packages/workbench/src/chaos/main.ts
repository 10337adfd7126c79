import { openTerminal } from '../terminal.ts';
import { chaos } from './chaos.ts';

process.exitCode = await chaos(process.argv.slice(2), openTerminal());
