import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import { done, get, post, said } from './client.ts';
import { type Setup, standalone } from './setups.ts';

const read = (path: string): Promise<string> => readFile(new URL(`../../../${path}`, import.meta.url), 'utf8');

let setup: Setup;
let metrics: string;

beforeAll(async () => {
  setup = await standalone({ SLOWWAVE_COLD_DAYS: '0' });
  await done(post(`${setup.ingest}/v1/batches?wait=60000`, said('ann', 'I live in Oslo.')));
  // A batch is consolidated a moment before its consolidation is counted.
  const counted = async (): Promise<number> => {
    metrics = (await get(`${setup.ingest}/metrics`)).body;
    return figure('slowwave_consolidations_total{outcome="applied",reason="none"}');
  };
  await vi.waitFor(async () => expect(await counted()).toBe(1), { timeout: 60_000, interval: 100 });
});
afterAll(() => setup.close());

/** The value of a series, by what its line begins with. */
const figure = (series: string): number => {
  const line = metrics.split('\n').find((one) => one.startsWith(`${series} `));
  return line === undefined ? Number.NaN : Number(line.slice(series.length));
};

describe('after one batch, /metrics', () => {
  test('tells of its way', () => {
    expect(figure('slowwave_acknowledge_duration_seconds_count{repeated="false"}')).toBe(1);
    expect(figure('slowwave_searchable_delay_seconds_count')).toBe(1);
    expect(figure('slowwave_consolidations_total{outcome="applied",reason="none"}')).toBe(1);
    expect(figure('slowwave_facts_total{outcome="ADD"}')).toBe(1);
    expect(figure('slowwave_step_duration_seconds_count{step="apply",outcome="done"}')).toBe(1);
    expect(figure('slowwave_model_calls_total{kind="extract_facts",model="builtin",outcome="answered"}')).toBe(1);
  });

  test('tells that nothing is lost, waits or is behind', () => {
    expect(figure('slowwave_conservation_gap')).toBe(0);
    expect(figure('slowwave_batches{state="consolidated"}')).toBe(1);
    expect(figure('slowwave_oldest_due_seconds')).toBe(0);
    expect(figure('slowwave_outbox_entries')).toBe(0);
    expect(figure('slowwave_outbox_oldest_seconds')).toBe(0);
    expect(figure('slowwave_breaker_open{model="builtin"}')).toBe(0);
    expect(figure('slowwave_queue_jobs{state="delayed"}')).toBeGreaterThanOrEqual(0);
    expect(figure('slowwave_ledger_group_commits_total')).toBeGreaterThan(0);
    expect(figure('slowwave_event_loop_delay_seconds{percentile="0.99"}')).toBeGreaterThan(0);
  });

  test('names nobody, and nothing that was said', () => {
    expect(metrics).not.toMatch(/Oslo|"ann"|bat_|lane_|con_/);
  });

  test('has names as Prometheus wants them, each with a help text', () => {
    for (const name of known()) expect(name).toMatch(/^slowwave_[a-z]+(_[a-z]+)*$/);
    const helps = [...metrics.matchAll(/^# HELP (\S+) (.+)$/gm)].map(([, name, help]) => [name, help?.length ?? 0]);
    expect(helps.filter(([, length]) => Number(length) < 10)).toEqual([]);
    const counters = [...metrics.matchAll(/^# TYPE (\S+) counter$/gm)].map(([, name]) => name ?? '');
    expect(counters.filter((name) => !name.endsWith('_total'))).toEqual([]);
  });
});

describe('infra', () => {
  test('alerts on metrics that exist, and says what to do', async () => {
    const { groups } = parse(await read('infra/prometheus/alerts.yml')) as { groups: { rules: Alert[] }[] };
    const rules = groups.flatMap((group) => group.rules);
    expect(rules.length).toBeGreaterThan(5);
    for (const { alert, expr, labels, annotations } of rules) {
      expect(unknownIn(expr), alert).toEqual([]);
      expect(['critical', 'warning', 'info'], alert).toContain(labels.severity);
      expect(annotations.summary.length, alert).toBeGreaterThan(10);
      expect(annotations.description.length, alert).toBeGreaterThan(10);
    }
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
  });

  test('shows metrics that exist on the dashboard', async () => {
    const { panels, uid } = JSON.parse(await read('infra/grafana/dashboard.json')) as { panels: Panel[]; uid: string };
    const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
    expect(uid).toBe('slowwave');
    expect(expressions.length).toBeGreaterThan(15);
    for (const expression of expressions) expect(unknownIn(expression), expression).toEqual([]);
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  });

  test('explains every metric there is', async () => {
    const documented = await read('docs/metrics.md');
    expect(known().filter((name) => !documented.includes(`\`${name}\``))).toEqual([]);
    expect(unknownIn(documented)).toEqual([]);
  });

  test('scrapes every service of docker-compose.yml that has metrics', async () => {
    const { scrape_configs: jobs } = parse(await read('infra/prometheus/prometheus.yml')) as { scrape_configs: Job[] };
    const { services } = parse(await read('docker-compose.yml'), { merge: true }) as { services: object };
    const scraped = jobs.flatMap(({ dns_sd_configs: places }) => places.flatMap(({ names }) => names));
    expect(scraped).toEqual(['ingest', 'search', 'console', 'worker']);
    expect(Object.keys(services)).toEqual(expect.arrayContaining(scraped));
  });
});

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly description: string };
}

interface Panel {
  readonly id: number;
  readonly targets?: readonly { readonly expr: string }[];
}

interface Job {
  readonly dns_sd_configs: readonly { readonly names: readonly string[] }[];
}

/** Names of the metrics the running program has. */
const known = (): string[] => [...metrics.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name ?? '');

/** Metrics that are named in an expression and that the program does not have. */
function unknownIn(expression: string): string[] {
  const names = expression.match(/\bslowwave_[a-z_]+/g) ?? [];
  return names.filter((name) => !known().includes(name.replace(/_(bucket|count|sum)$/, '')));
}
