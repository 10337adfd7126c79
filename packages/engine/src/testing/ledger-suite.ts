import { describe } from 'vitest';
import { type OpenLedger, useBench } from './ledger-bench.ts';
import { describeAppend } from './ledger-suite-append.ts';
import { describeApply } from './ledger-suite-apply.ts';
import { describeAudit } from './ledger-suite-audit.ts';
import { describeBatches } from './ledger-suite-batches.ts';
import { describeClaim } from './ledger-suite-claim.ts';
import { describeContents } from './ledger-suite-contents.ts';
import { describeErasures } from './ledger-suite-erasures.ts';
import { describeFailures } from './ledger-suite-failures.ts';
import { describeKeys } from './ledger-suite-keys.ts';
import { describeLanes } from './ledger-suite-lanes.ts';
import { describeLookups } from './ledger-suite-lookups.ts';
import { describeMemories } from './ledger-suite-memories.ts';
import { describeOutbox } from './ledger-suite-outbox.ts';
import { describeOverview } from './ledger-suite-overview.ts';
import { describePriorities } from './ledger-suite-priorities.ts';
import { describeReplays } from './ledger-suite-replays.ts';
import { describeRetention } from './ledger-suite-retention.ts';
import { describeReviews } from './ledger-suite-reviews.ts';
import { describeSettings } from './ledger-suite-settings.ts';
import { describeSources } from './ledger-suite-sources.ts';
import { describeSummaries } from './ledger-suite-summaries.ts';
import { describeTenants } from './ledger-suite-tenants.ts';
import { describeThoughts } from './ledger-suite-thoughts.ts';
import { describeUndos } from './ledger-suite-undos.ts';
import { describeWalks } from './ledger-suite-walks.ts';

/** What every ledger promises. `open` gives each test a ledger of its own, empty. */
export function describeLedger(name: string, open: OpenLedger): void {
  describe(`the ${name} ledger`, () => {
    const bench = useBench(open);
    describeAppend(bench);
    describeBatches(bench);
    describeClaim(bench);
    describeLanes(bench);
    describePriorities(bench);
    describeFailures(bench);
    describeThoughts(bench);
    describeSummaries(bench);
    describeApply(bench);
    describeReviews(bench);
    describeReplays(bench);
    describeUndos(bench);
    describeSettings(bench);
    describeKeys(bench);
    describeOutbox(bench);
    describeMemories(bench);
    describeSources(bench);
    describeLookups(bench);
    describeOverview(bench);
    describeAudit(bench);
    describeTenants(bench);
    describeErasures(bench);
    describeContents(bench);
    describeRetention(bench);
    describeWalks(bench);
  });
}
