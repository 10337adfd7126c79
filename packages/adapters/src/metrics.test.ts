import { EngineError, type TenantId, type TurnIds } from '@slowwave/engine';
import { echoExtract, engineBench, fakeChat, fakeEmbedder, fixedTools, NEVER } from '@slowwave/engine-testing';
import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { memoryLimiter } from './limits/index.ts';
import { countCommits, countWaits, engineMetrics, ingestMetrics, measureBreakers, meteredEmbedder } from './metrics.ts';

const TURN = { consolidationId: 'con_1', epoch: 1, lane: 'lane_1', batchIds: ['bat_1'], attempts: 0 } as const;
const turn = TURN as unknown as TurnIds;
const times = { startedAt: 1_000, endedAt: 1_250 };

describe('the metrics of the engine', () => {
  it('tell of a consolidation without naming anybody', async () => {
    const registry = new Registry();
    const chat = fakeChat({ extract_facts: echoExtract });
    const bench = await engineBench({ chat, meter: engineMetrics(registry) });
    await bench.post(['lives: in Oslo']);
    await bench.run();
    const text = await registry.metrics();
    expect(text).toContain('slowwave_consolidations_total{outcome="applied",reason="none"} 1');
    expect(text).toContain('slowwave_facts_total{outcome="ADD"} 1');
    expect(text).toContain('slowwave_step_duration_seconds_count{step="project",outcome="done"} 1');
    expect(text).toContain('slowwave_model_calls_total{kind="extract_facts",model="scripted",outcome="answered"} 1');
    expect(text).toContain('slowwave_searchable_delay_seconds_count 1');
    expect(text).not.toMatch(/Oslo|ann|bat_|lane_|con_/);
  });

  it('count figures by tenant and model, of the first tenants apart and of all others together', async () => {
    const registry = new Registry();
    const meter = engineMetrics(registry);
    const figures = { adds: { part: 3, of: 4 }, cost: { part: 0.5, of: 4 }, updates: { part: 0, of: 0 } };
    for (let i = 0; i < 30; i += 1) meter.figures(`tenant ${i}` as TenantId, { model: 'small', figures });
    meter.figures('tenant 0' as TenantId, { model: 'small', figures });
    meter.opinions('tenant 29' as TenantId, 'undo', ['against', 'against', 'for']);
    const text = await registry.metrics();
    expect(text).toContain('slowwave_figure_parts_total{tenant="tenant 0",model="small",figure="adds"} 6');
    expect(text).toContain('slowwave_figure_wholes_total{tenant="tenant 0",model="small",figure="cost"} 8');
    expect(text).toContain('slowwave_figure_wholes_total{tenant="(others)",model="small",figure="adds"} 20');
    expect(text).toContain('slowwave_opinions_total{tenant="(others)",kind="undo",opinion="against"} 2');
    expect(text).not.toContain('updates');
    expect(text.match(/slowwave_figure_parts_total\{[^}]*figure="adds"/g)).toHaveLength(26);
  });

  it('count a failed call by its failure, with its time in seconds', async () => {
    const registry = new Registry();
    const usage = { promptTokens: 40, completionTokens: 0 };
    const call = {
      ...times,
      kind: 'extract_facts',
      model: 'small',
      failure: 'model_timeout',
      usage,
      cost: 0.5,
      cause: null,
    } as const;
    engineMetrics(registry).call(turn, call);
    const text = await registry.metrics();
    expect(text).toContain('slowwave_model_calls_total{kind="extract_facts",model="small",outcome="model_timeout"} 1');
    expect(text).toContain(
      'slowwave_model_tokens_total{kind="extract_facts",model="small",cause="none",direction="prompt"} 40',
    );
    expect(text).toContain('slowwave_model_cost_total{kind="extract_facts",model="small",cause="none"} 0.5');
    expect(text).toContain('slowwave_model_call_duration_seconds_sum{kind="extract_facts",model="small"} 0.25');
  });

  it('survive a server that says nonsense, and a clock that is set back', async () => {
    const registry = new Registry();
    const meter = engineMetrics(registry);
    const usage = { promptTokens: Number.NaN, completionTokens: -5 };
    meter.call(null, {
      startedAt: 9,
      endedAt: 1,
      kind: 'k',
      model: 'm',
      failure: null,
      usage,
      cost: Number.NaN,
      cause: null,
    });
    meter.searchable([-5]);
    const text = await registry.metrics();
    expect(text).toContain('slowwave_model_tokens_total{kind="k",model="m",cause="none",direction="completion"} 0');
    expect(text).toContain('slowwave_searchable_delay_seconds_sum 0');
  });
});

describe('an embedder that is metered', () => {
  it('counts its calls, also those that fail', async () => {
    const registry = new Registry();
    const metering = { meter: engineMetrics(registry), tools: fixedTools() };
    const broken = new EngineError('no answer', { code: 'model_unreachable', retryable: true });
    await meteredEmbedder(fakeEmbedder(), metering).embed(['four'], NEVER);
    const failing = meteredEmbedder({ ...fakeEmbedder(), embed: () => Promise.reject(broken) }, metering);
    await expect(failing.embed(['four'], NEVER)).rejects.toBe(broken);
    const text = await registry.metrics();
    expect(text).toContain('slowwave_model_calls_total{kind="embed",model="fake-256",outcome="answered"} 1');
    expect(text).toContain('slowwave_model_calls_total{kind="embed",model="fake-256",outcome="model_unreachable"} 1');
    expect(text).toContain(
      'slowwave_model_tokens_total{kind="embed",model="fake-256",cause="none",direction="prompt"} 1',
    );
  });
});

describe('other metrics', () => {
  it('tell how long an acknowledgement took, repeated ones apart', async () => {
    const registry = new Registry();
    const acknowledged = ingestMetrics(registry);
    for (const repeated of [false, true])
      acknowledged({ ...times, batchId: 'bat_1', repeated, traceparent: null, fromTheFuture: 2 });
    const text = await registry.metrics();
    expect(text).toContain('slowwave_acknowledge_duration_seconds_sum{repeated="false"} 0.25');
    expect(text).toContain('slowwave_acknowledge_duration_seconds_count{repeated="true"} 1');
  });

  it('tell how often calls waited for a provider that refused', async () => {
    const registry = new Registry();
    const limiter = countWaits(memoryLimiter({ requestsPerMinute: 1, tokensPerMinute: null }), registry);
    expect(await limiter.reserve('small', 1)).toMatchObject({ kind: 'granted' });
    expect(await limiter.reserve('small', 1)).toMatchObject({ kind: 'wait' });
    await limiter.pause('small', 1_000);
    const text = await registry.metrics();
    expect(text).toContain('slowwave_rate_limit_waits_total{model="small"} 1');
    expect(text).toContain('slowwave_rate_limit_pauses_total{model="small"} 1');
    expect(text).toMatch(/slowwave_rate_limit_wait_seconds_total\{model="small"\} [1-9]/);
  });

  it('tell which models are left alone', async () => {
    const registry = new Registry();
    measureBreakers(registry, { breakers: () => ({ small: 'closed', large: 'open', probed: 'half_open' }) });
    const text = await registry.metrics();
    expect(text).toContain('slowwave_breaker_open{model="small"} 0');
    expect(text).toContain('slowwave_breaker_open{model="large"} 1');
    expect(text).toContain('slowwave_breaker_open{model="probed"} 1');
  });

  it('tell how many writes shared how many commits, scrape after scrape', async () => {
    const registry = new Registry();
    let calls = 5;
    countCommits(registry, { committed: async () => ({ commits: 2, calls }) });
    await registry.metrics();
    calls = 9;
    const text = await registry.metrics();
    expect(text).toContain('slowwave_ledger_group_commits_total 2');
    expect(text).toContain('slowwave_ledger_grouped_writes_total 9');
  });
});
