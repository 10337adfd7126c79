import type { Acknowledged, Ledger, Log, Meter, Tools } from '@slowwave/engine';
import { Registry } from 'prom-client';
import { type AuditLog, auditLog, type Receipts, receiptsOf } from '../audit-and-receipts.ts';
import type { Config } from '../config/index.ts';
import { auditMetrics, engineMetrics, ingestMetrics, receiptMetrics } from '../metrics.ts';
import { openExporter, traceEngine, traceIngest } from '../traces.ts';

/** What a program shows of itself: metrics always, traces where a collector is configured. */
export interface Observer {
  /** Served at /metrics; programs add figures of their own. */
  readonly registry: Registry;
  readonly meter: Meter;
  acknowledged(acknowledged: Acknowledged): void;
  close(): Promise<void>;
}

/** `service` names the program in traces. */
export function observe({ traces }: Config, { log, service }: { log: Log; service: string }): Observer {
  const registry = new Registry();
  const measured = { registry, meter: engineMetrics(registry), acknowledged: ingestMetrics(registry) };
  if (traces === null) return { ...measured, close: async () => {} };
  const exporter = openExporter({ ...traces, service, log });
  const traceAcknowledged = traceIngest(exporter);
  return {
    registry,
    meter: both(measured.meter, traceEngine(exporter)),
    acknowledged: (acknowledged) => {
      measured.acknowledged(acknowledged);
      traceAcknowledged(acknowledged);
    },
    close: () => exporter.close(),
  };
}

/** Measures with both. */
const both = (one: Meter, other: Meter): Meter => ({
  step: inTurn(one.step, other.step),
  call: inTurn(one.call, other.call),
  turn: inTurn(one.turn, other.turn),
  facts: inTurn(one.facts, other.facts),
  attacks: inTurn(one.attacks, other.attacks),
  figures: inTurn(one.figures, other.figures),
  opinions: inTurn(one.opinions, other.opinions),
  searchable: inTurn(one.searchable, other.searchable),
});

type Measure<Given extends readonly unknown[]> = (...given: Given) => void;

const inTurn =
  <Given extends readonly unknown[]>(one: Measure<Given>, other: Measure<Given>): Measure<Given> =>
  (...given) => {
    one(...given);
    other(...given);
  };

interface Parts {
  readonly ledger: Ledger;
  readonly tools: Tools;
  readonly log: Log;
  readonly observer: Pick<Observer, 'registry'>;
}

export interface Audit {
  /** null: nothing is recorded. */
  readonly sink: AuditLog | null;
  /** To be closed after the routes, and before the ledger. */
  close(): Promise<void>;
}

/** The audit log of the configuration. */
export function openAudit({ audit: what }: Config, { ledger, tools, log, observer }: Parts): Audit {
  if (what === 'off') return { sink: null, close: async () => {} };
  const sink = auditLog({ what, ledger, tools, log, counted: auditMetrics(observer.registry) });
  return { sink, close: sink.close };
}

/** What notes what answers told; null: the configuration keeps no receipts. */
export function openReceipts({ receiptDays }: Config, { ledger, tools, log, observer }: Parts): Receipts | null {
  if (receiptDays === 0) return null;
  return receiptsOf({ ledger, tools, log, counted: receiptMetrics(observer.registry) });
}
