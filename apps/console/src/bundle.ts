import { isDeepStrictEqual } from 'node:util';
import {
  BundledErasureList,
  BundledOwnerList,
  BundleLines,
  BundleView,
  GetBundleQuery,
  GetLinesQuery,
  ImportView,
  ListBundledQuery,
  PostErasures,
  PostImport,
  PostLines,
  PutBundledSettings,
  TakenErasures,
  TakenSettings,
} from '@slowwave/contracts';
import {
  asEngineError,
  BUNDLE_FORMAT,
  type BundledErasure,
  DEFAULT_SETTINGS,
  type ImportState,
  isoOf,
  type LaneId,
  ownerBitsOf,
  ownerHashOf,
  requestErasure,
  type TenantId,
  type TenantSettings,
} from '@slowwave/engine';
import { IdParams, notFound, type ProblemError, problem } from '@slowwave/http';
import type { z } from 'zod';
import { type ConsoleDeps, routesOf } from './deps.ts';
import { refuseUnusable, settingsFrom, settingsView } from './settings.ts';

const route = routesOf('bundle');

/** Owners as they travel from one installation to another. */
export const bundleRoutes = [
  route('GET /v1/bundle', {
    id: 'getBundle',
    summary: 'Get the header of a tenant’s bundle',
    description: 'The format of its lines, the ledger’s id, and the tenant’s settings.',
    query: GetBundleQuery,
    answer: BundleView,
    audited: true,
    handle: async ({ ledger }, { query }) => ({
      ...{ format: BUNDLE_FORMAT, ledger_id: ledger.id, tenant: query.tenant },
      settings: settingsView(await ledger.settings.get(query.tenant as TenantId)),
    }),
  }),
  route('GET /v1/bundle/owners', {
    id: 'listBundledOwners',
    summary: 'List all users, agents and runs of a tenant, oldest first',
    query: ListBundledQuery,
    answer: BundledOwnerList,
    handle: async ({ bundles }, { query: { tenant, limit, cursor } }) => {
      const found = await bundles.owners(tenant as TenantId, (cursor ?? null) as LaneId | null, limit);
      const next_cursor = found.length < limit ? null : (found.at(-1)?.lane ?? null);
      return { results: found.map(({ owner }) => ({ ...owner })), next_cursor };
    },
  }),
  route('GET /v1/bundle/lines', {
    id: 'getBundleLines',
    summary: 'Get the next lines of an owner',
    description:
      'Everything the ledger stores about one owner, page by page; docs/bundle.md describes the lines. 409: the ' +
      'owner changed since the first page; start again without a cursor.',
    query: GetLinesQuery,
    answer: BundleLines,
    audited: true,
    handle: async ({ bundles, tools }, { query: { tenant, kind, id, cursor, moving } }) => {
      const readAt = tools.now();
      const page = await bundles.lines(tenant as TenantId, { kind, id }, { cursor: cursor ?? null, moving });
      if (page.kind === 'gone') throw notFound(kind, id);
      if (page.kind === 'changed') throw changed(kind, id);
      const { lines, nextCursor, stamp } = page;
      const last = moving && stamp !== null ? { stamp } : {};
      return { read_at: isoOf(readAt), lines: [...lines], next_cursor: nextCursor, ...last };
    },
  }),
  route('GET /v1/bundle/erasures', {
    id: 'listBundledErasures',
    summary: 'List the finished erasures of a tenant',
    description: 'Digests without names, so that importing an older bundle does not bring erased owners back.',
    query: ListBundledQuery,
    answer: BundledErasureList,
    handle: async ({ bundles }, { query: { tenant, limit, cursor } }) => {
      const found = await bundles.erasures(tenant as TenantId, cursor ?? null, limit);
      return { results: found.map(erasureView), next_cursor: found.length < limit ? null : (found.at(-1)?.id ?? null) };
    },
  }),
  route('POST /v1/bundle/erasures', {
    id: 'postBundledErasures',
    summary: 'Import finished erasures of another ledger',
    description: 'An owner that was erased there after a bundle was created is not imported from that bundle.',
    body: PostErasures,
    answer: TakenErasures,
    handle: async ({ bundles }, { body: { tenant, erasures } }) => ({
      taken: await bundles.takeErasures(tenant as TenantId, erasures.map(erasureFrom)),
    }),
  }),
  route('PUT /v1/bundle/settings', {
    id: 'putBundledSettings',
    summary: 'Import the settings of a tenant',
    description: 'Existing settings of the tenant stay unchanged unless replace is set.',
    body: PutBundledSettings,
    answer: TakenSettings,
    handle: async ({ ledger }, { body }): Promise<TakenSettings> => {
      const tenant = body.tenant as TenantId;
      const [arriving, chosen] = [settingsFrom(body.settings), await ledger.settings.get(tenant)];
      if (isSame(arriving, chosen)) return { settings: 'same' };
      if (!(body.replace || isSame(chosen, DEFAULT_SETTINGS))) return { settings: 'kept' };
      refuseUnusable(arriving.prompts, 'settings.prompts');
      await ledger.settings.put(tenant, arriving);
      return { settings: 'taken' };
    },
  }),
  route('POST /v1/bundle/imports', {
    id: 'postImport',
    summary: 'Start or resume the import of an owner',
    description:
      'Repeating the request returns the same import and the number of accepted lines. The owner stays invisible until the ' +
      'import is finished. 409: the owner exists here, or was erased after the lines were read. 409 owner_busy: its earlier data ' +
      'is still being removed; retry in a second.',
    body: PostImport,
    answer: ImportView,
    handle: async (deps, { body }) => importView(await begun(deps, body)),
  }),
  route('POST /v1/bundle/imports/:id/lines', {
    id: 'postImportLines',
    summary: 'Send the next lines of an import',
    description:
      'Either all of the lines are stored, or none. If another line is expected next, nothing is stored, and taken gives its ' +
      'number.',
    params: IdParams,
    body: PostLines,
    answer: ImportView,
    audited: false,
    handle: async (deps, { params: { id }, body: { from, lines } }) => {
      const taken = await deps.bundles.take(id, from, lines).catch((thrown) => {
        throw refusedAmong(thrown, from, lines.length);
      });
      if (taken.kind === 'damaged') throw damaged(taken);
      if (taken.kind === 'refused') throw refused(taken);
      return importView(await known(deps, id));
    },
  }),
  route('POST /v1/bundle/imports/:id/finish', {
    id: 'finishImport',
    summary: 'Finish an import',
    description:
      'Makes the owner visible. Its memories are searchable when the response arrives; for a very large owner ' +
      'shortly after. No model is called.',
    params: IdParams,
    answer: ImportView,
    handle: async (deps, { params: { id } }) => {
      const { kind, id: ownerId } = (await known(deps, id)).owner;
      const done = await deps.bundles.finish(id, deps.tools.now());
      if (done.kind === 'exists') throw exists(kind, ownerId);
      if (done.kind === 'erased') throw erased(kind, ownerId);
      if (done.kind === 'incomplete') throw incomplete(done);
      if (done.kind === 'finished' && done.nudge !== null) await deps.nudge([done.nudge]);
      const state = await known(deps, id);
      // Also if an earlier call has finished it: whoever asks again may be the first to see an answer.
      await deps.makeSearchable(state.lane);
      return importView(state);
    },
  }),
  route('DELETE /v1/bundle/imports/:id', {
    id: 'deleteImport',
    summary: 'Discard an unfinished import',
    description: 'Its lines are erased in the background.',
    params: IdParams,
    answer: ImportView,
    handle: async (deps, { params: { id } }) => {
      const state = await known(deps, id);
      if (state.finished) throw problem('conflict', `import ${id} is finished; to remove its owner, erase the owner`);
      await requestErasure(deps, state.tenant, state.hidden);
      return importView(state);
    },
  }),
];

/** Begins an import; what another bundle began with the same owner is thrown away. */
async function begun(deps: ConsoleDeps, body: z.output<typeof PostImport>): Promise<ImportState> {
  const { bundles, ledger, tools } = deps;
  const { format, kind, id, lines, sum, attempt } = body;
  if (format > BUNDLE_FORMAT) throw tooNew(format);
  const owned = { tenant: body.tenant as TenantId, owner: { kind, id } };
  const now = tools.now();
  const arriving = {
    ...{ ...owned, id: tools.id('imp'), lane: tools.id('lane', ownerBitsOf(tools, owned)) as LaneId },
    ownerHashes: [ledger.id, body.ledger_id].map((ledgerId) => ownerHashOf(tools, { ledgerId, ...owned })),
    ...{ readAt: Date.parse(body.read_at), lines, sum, attempt, now },
  };
  for (;;) {
    const begun = await bundles.begin(arriving);
    if (begun.kind === 'import') return begun;
    if (begun.kind === 'exists') throw exists(kind, id);
    if (begun.kind === 'erased') throw erased(kind, id);
    if (begun.kind === 'overtaken') throw overtaken(kind, id);
    if (begun.kind === 'leaving') throw leaving(kind, id);
    if (begun.kind === 'thrown_away') throw stillHere(kind, id);
    await requestErasure(deps, owned.tenant, (await known(deps, begun.id)).hidden);
  }
}

async function known({ bundles }: ConsoleDeps, id: string): Promise<ImportState> {
  const state = await bundles.find(id);
  if (state === null) throw notFound('import', id);
  return state;
}

const importView = ({ id, finished, taken, lines }: ImportState): ImportView => ({
  ...{ import_id: id, state: finished ? 'finished' : 'open', taken, lines },
});

const erasureView = ({ id, ownerHash, requestedAt, erasedAt }: BundledErasure) => ({
  ...{ id, owner_hash: ownerHash, requested_at: isoOf(requestedAt), erased_at: isoOf(erasedAt) },
});

const erasureFrom = (erasure: z.output<typeof PostErasures>['erasures'][number]): BundledErasure => ({
  ...{ id: erasure.id, ownerHash: erasure.owner_hash },
  ...{ requestedAt: Date.parse(erasure.requested_at), erasedAt: Date.parse(erasure.erased_at) },
});

/** What is left out counts as its default in both. */
const isSame = (one: TenantSettings, other: TenantSettings): boolean =>
  isDeepStrictEqual(settingsView(one), settingsView(other));

const changed = (kind: string, id: string): ProblemError =>
  problem(
    'conflict',
    `something was written to ${kind} ${id} since the first page was read; start again without a cursor`,
  );

const exists = (kind: string, id: string): ProblemError =>
  problem(
    'owner_exists',
    `expected no ${kind} ${id} here, got one with other data; import the bundle into another installation, or ` +
      'export and erase the existing owner first',
  );

const overtaken = (kind: string, id: string): ProblemError =>
  problem('conflict', `a later move of ${kind} ${id} is in progress; this import is obsolete`);

const erased = (kind: string, id: string): ProblemError =>
  problem('owner_erased', `${kind} ${id} was erased after this bundle was created, so it is not imported`);

const leaving = (kind: string, id: string): ProblemError =>
  problem('owner_busy', `${kind} ${id} has just moved away, and its rows are still being removed; retry in a second`);

const stillHere = (kind: string, id: string): ProblemError =>
  problem('owner_busy', `earlier data of ${kind} ${id} is still being removed; retry in a second`);

const tooNew = (format: number): ProblemError =>
  problem(
    'invalid_request',
    `expected a bundle of format ${BUNDLE_FORMAT} or older, got ${format}; import it with a newer release`,
  );

const damaged = ({ line, expected, got }: { line: number; expected: string; got: string }): ProblemError =>
  problem(
    'invalid_request',
    `line ${line} is damaged: expected the checksum ${expected}, got ${got}; none of these lines was stored`,
  );

const refused = ({ line, problem: what }: { line: number; problem: string }): ProblemError =>
  problem('invalid_request', `line ${line} cannot be imported: ${what}`);

/** What the ledger itself refuses: a row that contradicts another one, or lacks something. */
function refusedAmong(thrown: unknown, from: number, count: number): unknown {
  const { code, message } = asEngineError(thrown);
  if (code !== 'internal') return thrown;
  const which = count === 1 ? `line ${from + 1}` : `one of the lines ${from + 1} to ${from + count}`;
  return problem(
    'invalid_request',
    `${which} cannot be imported: ${message}; nothing of these lines is stored. Export the owner again`,
  );
}

const incomplete = ({ taken, lines }: { taken: number; lines: number }): ProblemError =>
  problem('conflict', `expected all ${lines} lines before the import is finished, got ${taken}; send the rest`);
