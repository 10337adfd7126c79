import { fixedTools } from './fixed-tools.ts';
import { describeLedger } from './ledger-suite.ts';
import { createMemoryLedger } from './memory-ledger.ts';

describeLedger('in-memory', async () => {
  const ledger = createMemoryLedger({ tools: fixedTools() });
  return { ledger, close: () => ledger.close() };
});
