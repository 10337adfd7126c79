import {
  GetSuiteRunQuery,
  PostSuite,
  PostSuiteAssessments,
  PostSuiteRun,
  PutSuiteMargins,
  SuiteAssessments,
  SuiteExport,
  type SuiteFile,
  SuiteList,
  SuitePageQuery,
  SuiteParams,
  SuiteRunEstimate,
  SuiteRunList,
  SuiteRunParams,
  SuiteRunView,
  SuiteSample,
  SuiteSampleQuery,
  SuiteView,
} from '@slowwave/contracts';
import {
  type CaseContent,
  casesOf,
  contentOf,
  DECIDING,
  estimateRun,
  FIGURES,
  type FileCase,
  importSuite,
  isoOf,
  type JsonObject,
  type Ledger,
  type Millis,
  type Replay,
  recordSuite,
  type SampledMessage,
  type Suite,
  sampleOf,
  startRun,
  type TenantId,
  usualBudget,
  type WhatIfChanges,
  writtenIn,
} from '@slowwave/engine';
import { concerns, idempotencyOf, KeyHeader, listed, momentOf, notFound, pageOf, problem } from '@slowwave/http';
import { z } from 'zod';
import { type ConsoleDeps, routesOf } from './deps.ts';
import { changesIn, namedBy } from './replays.ts';
import { refuseModels, settingsFrom } from './settings.ts';
import {
  assessedView,
  estimateView,
  junitReport,
  markdownReport,
  runSummary,
  runView,
  sampleView,
  suiteSummary,
  textReport,
} from './suite-view.ts';

const route = routesOf('manage');

/** Suites of recorded conversations, and their runs. */
export const suiteRoutes = [
  route('POST /v1/suites', {
    id: 'postSuite',
    summary: 'Record a suite from production, or import one from a file',
    description:
      'A suite contains conversations, the memories known before them and the results. Owners are chosen by the hash of ' +
      'their ids, so that all languages, lengths and kinds of change are represented. Erasing an owner removes its cases.',
    body: PostSuite,
    answer: { 201: SuiteView },
    handle: async (deps, { tenant, body, request, reply }) => {
      refuseUnknownFigures(body.file?.margins ?? {});
      const suite = await makeSuite(deps, tenant, body);
      concerns(request, { kind: 'suite', id: suite.name });
      reply.code(201).header('location', `/v1/suites/${suite.name}`);
      return suiteView(deps, suite);
    },
  }),
  route('GET /v1/suites', {
    id: 'listSuites',
    summary: 'List suites, newest first',
    query: SuitePageQuery,
    answer: SuiteList,
    handle: async ({ ledger }, { tenant, query }) =>
      listed(await ledger.suites.list(tenant, pageOf(query)), suiteSummary),
  }),
  route('GET /v1/suites/:name', {
    id: 'getSuite',
    summary: 'Get a suite and the estimated usage of a run',
    params: SuiteParams,
    answer: SuiteView,
    handle: async (deps, { tenant, params }) => suiteView(deps, await existing(deps, tenant, params.name)),
  }),
  route('PUT /v1/suites/:name/margins', {
    id: 'putSuiteMargins',
    summary: 'Replace the margins of a suite',
    description: 'Later runs are judged by the new margins.',
    params: SuiteParams,
    body: PutSuiteMargins,
    answer: SuiteView,
    handle: async (deps, { tenant, params, body }) => {
      refuseUnknownFigures(body.margins);
      const suite = await existing(deps, tenant, params.name);
      await deps.ledger.suites.setMargins(tenant, suite.id, body.margins as JsonObject);
      return suiteView(deps, await existing(deps, tenant, params.name));
    },
  }),
  route('DELETE /v1/suites/:name', {
    id: 'deleteSuite',
    summary: 'Delete a suite with its cases',
    description: 'Its runs stay readable as replays, without the quoted texts.',
    params: SuiteParams,
    answer: SuiteView,
    handle: async (deps, { tenant, params }) => {
      const suite = await existing(deps, tenant, params.name);
      const view = await suiteView(deps, suite);
      await deps.ledger.suites.remove(tenant, suite.id);
      return view;
    },
  }),
  route('GET /v1/suites/:name/export', {
    id: 'exportSuite',
    summary: 'Export a suite as a file for a repository',
    description: 'The file does not name users, but it contains what they said unless the suite is masked.',
    params: SuiteParams,
    answer: SuiteExport,
    handle: async (deps, { tenant, params }) => fileOf(deps, await existing(deps, tenant, params.name)),
  }),
  route('POST /v1/suites/:name/runs', {
    id: 'postSuiteRun',
    summary: 'Run a suite with other prompts, settings or models',
    description:
      'Its cases are consolidated in a shadow space, and the results are compared with the stored results, or with the newest ' +
      'run without changes. With dry_run, only the estimated usage is returned. A run never uses more tokens than its budget.',
    params: SuiteParams,
    headers: KeyHeader,
    body: PostSuiteRun,
    answer: { 200: z.union([SuiteRunEstimate, SuiteRunView]), 202: SuiteRunView },
    handle: async (deps, { tenant, params, body, headers, request, reply }) => {
      const suite = await existing(deps, tenant, params.name);
      const changes = runChanges(body);
      refuseModels(deps, request, namedBy(changes));
      const { embedder = null } = body;
      await refuseEmbedder(deps, embedder);
      const estimate = await estimateRun(deps, suite);
      if (body.dry_run) return { dry_run: true as const, ...estimateView(estimate) };
      const budget = body.budget_tokens ?? usualBudget(estimate);
      const key = idempotencyOf(headers['idempotency-key'], body.idempotency_key);
      const started = await startRun(deps, { suite, changes, budget, matched: estimate.batches, embedder, key });
      if (started.kind === 'conflict')
        throw problem(
          'idempotency_conflict',
          `the idempotency key ${JSON.stringify(key)} was already used with a different body`,
        );
      concerns(request, { kind: 'replay', id: started.run.id });
      reply.code(started.kind === 'repeated' ? 200 : 202);
      return runView(deps, suite, started.run);
    },
  }),
  route('GET /v1/suites/:name/runs', {
    id: 'listSuiteRuns',
    summary: 'List the runs of a suite, newest first',
    params: SuiteParams,
    query: SuitePageQuery,
    answer: SuiteRunList,
    handle: async (deps, { tenant, params, query }) => {
      const suite = await existing(deps, tenant, params.name);
      return listed(await deps.ledger.suites.runs(tenant, suite.id, pageOf(query)), (run) => runSummary(suite, run));
    },
  }),
  route('GET /v1/suites/:name/runs/:id', {
    id: 'getSuiteRun',
    summary: 'Get the progress and the report of a run',
    params: SuiteRunParams,
    query: GetSuiteRunQuery,
    answer: {
      200: {
        description: 'The run',
        content: { 'application/json': { schema: SuiteRunView }, 'text/plain': { schema: z.string() } },
      },
    },
    handle: async (deps, { tenant, params, query, reply }) => {
      const suite = await existing(deps, tenant, params.name);
      const view = await runView(deps, suite, await existingRun(deps, suite, params.id));
      if (query.format === 'json') return view;
      return reply
        .type('text/plain; charset=utf-8')
        .serializer((text: unknown) => String(text))
        .send(REPORTS[query.format](view));
    },
  }),
  route('GET /v1/suites/:name/runs/:id/sample', {
    id: 'getSuiteSample',
    summary: 'Get messages of a run with the facts found in them, for people to assess',
    description: 'Everybody gets the same sample. It is deleted with the space of the run, a week after the run ends.',
    params: SuiteRunParams,
    query: SuiteSampleQuery,
    answer: SuiteSample,
    handle: async (deps, { tenant, params, query }) => {
      const run = await existingRun(deps, await existing(deps, tenant, params.name), params.id);
      const given = await deps.ledger.suites.assessments(run.id);
      return sampleView(await sampleOf(deps, run, query.messages), { given, by: query.by ?? null });
    },
  }),
  route('POST /v1/suites/:name/runs/:id/assessments', {
    id: 'postSuiteAssessments',
    summary: 'Submit which facts of a run are right, and which messages have missing facts',
    description:
      'A later verdict of the same person on a fact or message replaces the earlier one. Returns how much people agree.',
    params: SuiteRunParams,
    body: PostSuiteAssessments,
    answer: SuiteAssessments,
    handle: async (deps, { tenant, params, body, request }) => {
      const run = await existingRun(deps, await existing(deps, tenant, params.name), params.id);
      refuseUnknownItems(await sampleOf(deps, run, SAMPLED_MAX), body);
      await deps.ledger.suites.assess(
        run.id,
        body.assessments.map((one) => ({ ...one, by: body.by })),
      );
      concerns(request, { kind: 'replay', id: run.id });
      return assessedView(await deps.ledger.suites.assessments(run.id));
    },
  }),
];

/** As many as a sample may have. */
const SAMPLED_MAX = 100;

function refuseUnknownItems(sample: readonly SampledMessage[], { assessments }: PostSuiteAssessments): void {
  const messages = new Set(sample.map(({ id }) => id));
  const facts = new Set(sample.flatMap((message) => message.facts.map(({ id }) => id)));
  const errors = assessments.flatMap(({ item, verdict }, i) => {
    const isOfFact = verdict === 'agree' || verdict === 'wrong';
    if ((isOfFact ? facts : messages).has(item)) return [];
    const expected = isOfFact
      ? 'expected the id of a fact of the sample'
      : 'expected the id of a message of the sample';
    return { path: `assessments[${i}].item`, message: `${expected} for the verdict ${verdict}` };
  });
  if (errors.length > 0)
    throw problem('invalid_request', 'some items are not in the sample of this run; read the sample again', { errors });
}

const REPORTS = { text: textReport, markdown: markdownReport, junit: junitReport };

async function suiteView(deps: ConsoleDeps, suite: Suite): Promise<SuiteView> {
  return { ...suiteSummary(suite), estimate: estimateView(await estimateRun(deps, suite)) };
}

async function makeSuite(deps: ConsoleDeps, tenant: TenantId, { name, record, file }: PostSuite): Promise<Suite> {
  if (file !== undefined) {
    const { masked, margins } = file;
    const suite = { tenant, name, masked, margins: margins as JsonObject };
    const created = await importSuite(deps, suite, contentsOf(file, deps.tools.now()));
    if (created === null) throw nameTaken(name);
    return created;
  }
  const { owners = 1, batches_per_owner: batchesPerOwner = 1, mask: masked = false } = record ?? {};
  const recorded = await recordSuite(deps, { tenant, name, owners, batchesPerOwner, masked });
  if (recorded.kind === 'recorded') return recorded.suite;
  if (recorded.kind === 'name_taken') throw nameTaken(name);
  throw problem('conflict', 'nothing to record: no owner has consolidated batches with all their messages');
}

const nameTaken = (name: string) =>
  problem('conflict', `the suite ${JSON.stringify(name)} already exists; delete it, or choose another name`);

async function existing({ ledger }: ConsoleDeps, tenant: TenantId, name: string): Promise<Suite> {
  const suite = await ledger.suites.find(tenant, name);
  if (suite === null) throw notFound('suite', name);
  return suite;
}

async function existingRun({ ledger }: ConsoleDeps, suite: Suite, id: string): Promise<Replay> {
  const run = await ledger.replays.get(suite.tenant, id);
  if (run === null || run.filter.suite !== suite.id) throw notFound('run', id);
  return run;
}

async function refuseEmbedder({ otherEmbedder }: ConsoleDeps, model: string | null): Promise<void> {
  if (model === null || (await otherEmbedder(model)) !== null) return;
  throw problem(
    'invalid_request',
    `the embedding model ${JSON.stringify(model)} cannot be used: no embedding server is configured; set OPENAI_API_KEY or SLOWWAVE_EMBEDDING_BASE_URL`,
    { errors: [{ path: 'embedder', message: 'expected builtin' }] },
  );
}

function refuseUnknownFigures(margins: object): void {
  const unknown = Object.keys(margins).filter((name) => !Object.hasOwn(FIGURES, name));
  if (unknown.length === 0) return;
  throw problem('invalid_request', `unknown figures: ${unknown.join(', ')}; docs/suites.md lists the figures`, {
    errors: unknown.map((name) => ({ path: `margins.${name}`, message: 'expected a figure' })),
  });
}

/** What a run does otherwise. Of settings only those count that decide what is remembered. */
function runChanges({
  settings,
  embedder: _embedder,
  budget_tokens: _budget,
  dry_run: _dry,
  idempotency_key: _key,
  ...fields
}: PostSuiteRun): WhatIfChanges {
  const changes = changesIn(fields);
  if (settings === undefined) return changes;
  const all = settingsFrom(settings);
  return {
    ...changes,
    rules: Object.fromEntries(DECIDING.map((name) => [name, all[name]])) as NonNullable<WhatIfChanges['rules']>,
  };
}

type Case = SuiteFile['cases'][number];

/** A suite as a file. Users are called by the place of their case, and messages by theirs. */
async function fileOf(deps: { readonly ledger: Ledger }, suite: Suite): Promise<SuiteFile> {
  const cases: Case[] = [];
  for await (const one of casesOf(deps, suite.id)) cases.push(caseOf(`case-${one.place + 1}`, contentOf(one)));
  return {
    ...{ format: 'slowwave-suite', version: 1, masked: suite.masked },
    margins: suite.margins as SuiteFile['margins'],
    cases,
  };
}

function caseOf(name: string, content: CaseContent): Case {
  const names = new Map<string, string>();
  const batches = content.batches.map(({ settings, window, messages }) => ({
    mode: settings.mode === 'add_only' ? ('add_only' as const) : ('decide' as const),
    window,
    messages: messages.map((message) => {
      const id = `m${names.size + 1}`;
      names.set(message.id, id);
      const { role, name: speaker, at } = message;
      return { id, role, content: writtenIn(message.content), name: speaker, timestamp: isoOf(at) };
    }),
  }));
  const { stored, measured, language, questions } = content;
  return {
    ...{ name, language, batches },
    memories: content.memories.map((memory) => ({
      ...{ text: memory.text, said_at: isoOf(memory.at), category: memory.category, language: memory.language },
    })),
    expected: stored && {
      facts: stored.facts.map(({ sources, ...fact }) => ({
        ...fact,
        messages: sources.flatMap((source) => names.get(source) ?? []),
      })),
      changes: [...stored.changes],
      memories: [...stored.live],
    },
    questions: questions.map(({ query, expects }) => ({ query, expects: [...expects] })),
    measured: measured && { ...measured, figures: { ...measured.figures } as NonNullable<Case['measured']>['figures'] },
  };
}

/** The cases of a file. What has no time was said now, in the order in which it stands there. */
const contentsOf = ({ cases }: SuiteFile, now: Millis): readonly FileCase[] =>
  cases.map((one) => ({ name: one.name, content: contentIn(one, now) }));

function contentIn({ memories, batches, expected, questions, measured, language }: Case, now: Millis): CaseContent {
  return {
    ...{ language, questions },
    memories: memories.map(({ text, said_at: said, category, language: spoken }, i) => {
      const at = momentOf(said) ?? now - memories.length + i;
      return { id: `memory ${i}`, text, at, validFrom: at, category, language: spoken, about: 'user' };
    }),
    batches: batches.map(({ mode, window, messages }, place) => ({
      id: `batch ${place}`,
      scope: { userId: null, agentId: null, runId: null, appId: null },
      settings: { mode, instructions: null, includes: null, excludes: null, expiresAt: null },
      window: window ?? place,
      messages: messages.map(({ id, role, content, name, timestamp }, i) => ({
        ...{ id: id ?? `${place} ${i}`, clientId: null, role, content, name },
        at: momentOf(timestamp) ?? now,
      })),
    })),
    stored: expected && {
      facts: expected.facts.map(({ messages, ...fact }) => ({ ...fact, sources: messages })),
      changes: expected.changes,
      live: expected.memories,
    },
    measured,
  };
}
