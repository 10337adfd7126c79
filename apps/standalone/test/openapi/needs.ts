import { randomUUID } from 'node:crypto';
import type { World } from './world.ts';

/** What an example needs to be about something. */
export interface Needed {
  /** What stands in the path. */
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, unknown>>;
  /** Sent in the place of the usual key. */
  readonly key?: string;
  /** Puts real ids in the place of those that only show what an id looks like. */
  readonly body?: (example: object) => object;
  readonly after?: (answer: { readonly id: string; readonly name?: string }) => Promise<unknown>;
}

type Need = (world: World) => Promise<Needed>;

const ofMemory: Need = async (world) => ({ params: { id: await world.memory() } });
const ofConsolidation: Need = async (world) => ({ params: { id: (await world.consolidated()).consolidation } });
const ofUser: Need = async (world) => ({ params: { id: (await world.consolidated()).user } });
const ofOwnerOf =
  (kind: 'agent' | 'run'): Need =>
  async (world) => {
    await world.done('POST /v1/memories', { [`${kind}_id`]: `erased-${kind}`, memory: 'Books flights' });
    return { params: { id: `erased-${kind}` } };
  };
const ofReceipt: Need = async (world) => ({ params: { id: await world.receipt() } });
const ofNight: Need = async (world) => ({ params: { id: await world.night() } });
const ofWhatIf: Need = async (world) => ({ params: { id: await world.whatIf() } });
const ofSuite: Need = async (world) => ({ params: { name: await world.suite() } });
const ofRunOfSuite: Need = async (world) => {
  const name = await world.suite();
  return { params: { name, id: (await world.done(`POST /v1/suites/${name}/runs`, {})).id } };
};
const ofCanary: Need = async (world) => ({ params: { id: await world.canary() } });
const ofKey: Need = async (world) => ({ params: { id: await world.key() } });
const ofTenant: Need = async () => ({ params: { id: 'acme' } });
const ofWebhook: Need = async (world) => ({ params: { id: await world.webhook() } });

/** One that has a plan. */
const ofRun: Need = async (world) => {
  const id = randomUUID();
  await world.done(`PUT /v1/runs/${id}/state?user_id=ana`, { steps: [{ id: 'pay', title: 'Pay' }] });
  return { params: { id }, query: { user_id: 'ana' } };
};

/** A user, and what names its state as it would leave. */
async function leaver(world: World, id: string): Promise<string> {
  // What is removed of it later is nothing that anybody counts.
  await world.done(`PUT /v1/runs/${randomUUID()}/state?user_id=${id}`, { steps: [{ id: 'pay', title: 'Pay' }] });
  return (await world.done(`GET /v1/bundle/lines?moving=true&kind=user&id=${id}`)).stamp;
}

/** A user who has left for another cell. */
const departed: Need = async (world) => {
  const id = `left-${randomUUID()}`;
  const stamp = await leaver(world, id);
  const left = { kind: 'user', id, to: 'cell-2', epoch: 1, stamp, until: '2099-01-01T00:00:00Z' };
  await world.done('POST /v1/cell/departures', left);
  return { query: { kind: 'user', id } };
};

const ofOwner: Need = async () => ({ query: { user_id: 'ana' } });
const ofEntity: Need = async (world) => ({ params: { id: (await world.relation()).source.id } });
const ofRelation: Need = async (world) => ({ params: { id: (await world.relation()).id } });

const ofGraphs: Readonly<Record<string, Need>> = {
  getGraph: ofOwner,
  listEntities: ofOwner,
  listRelations: ofOwner,
  listProposals: ofOwner,
  getEntity: ofEntity,
  getEntityHistory: ofEntity,
  patchEntity: ofEntity,
  splitEntity: ofEntity,
  mergeEntity: async (world) => {
    const { source, destination } = await world.relation();
    return { params: { id: source.id }, body: (example) => ({ ...example, into: destination.id }) };
  },
  getRelation: ofRelation,
  getRelationHistory: ofRelation,
  patchRelation: ofRelation,
  deleteRelation: ofRelation,
};

const ofSilent: Need = async (world) => {
  const { user } = await world.consolidated();
  return { body: (example) => ({ ...example, id: user }) };
};

/** What operations need that examples alone do not tell, by operationId. */
export const NEEDS: Readonly<Record<string, Need>> = {
  getBatch: async (world) => ({ params: { id: (await world.consolidated()).batch } }),
  listMemories: async () => ({ query: { user_id: 'ana' } }),
  deleteMemories: async () => ({ query: { user_id: 'nobody' } }),
  listMemoriesOfIds: async () => ({ query: { app_id: 'web' } }),
  withdrawMemories: async () => ({ query: { run_id: 'nobody' } }),
  getMemory: ofMemory,
  patchMemory: ofMemory,
  deleteMemory: ofMemory,
  postFeedback: ofMemory,
  restoreMemory: ofMemory,
  getHistory: ofMemory,
  getMemoryReceipts: ofMemory,
  getReceipt: ofReceipt,
  postOutcome: ofReceipt,
  ...ofGraphs,
  listTaskStates: ofOwner,
  getTaskState: ofRun,
  getTaskStateHistory: ofRun,
  putTaskState: async () => ({ params: { id: randomUUID() }, query: { user_id: 'ana' } }),
  patchTaskState: ofRun,
  endTask: async (world) => {
    const needed = await ofRun(world);
    await world.done(`PATCH /v1/runs/${needed.params?.id}/state?user_id=ana`, { goal: 'Book it' });
    return needed;
  },
  getSources: async (world) => ({ params: { id: (await world.consolidated()).memory } }),
  listMessages: async (world) => ({ query: { around: (await world.consolidated()).event } }),
  getConsolidation: ofConsolidation,
  getPrompts: ofConsolidation,
  getStudy: async (world) => {
    const { consolidation } = await world.consolidated();
    await world.done(`POST /v1/consolidations/${consolidation}/graph`);
    return { params: { id: consolidation } };
  },
  postStudy: ofConsolidation,
  undoConsolidation: ofConsolidation,
  getNight: ofNight,
  decideNight: ofNight,
  redo: async (world) => ({ params: { id: await world.undo() } }),
  settleReview: async (world) => ({ params: { id: await world.review() } }),
  eraseUser: ofUser,
  eraseAgent: ofOwnerOf('agent'),
  eraseRun: ofOwnerOf('run'),
  exportUser: ofUser,
  getProfile: ofUser,
  putProfileLine: async (world) => {
    const { id: memory_id } = await world.done('POST /v1/memories', {
      user_id: 'ana',
      memory: 'Likes to be called Ana',
    });
    const body = (example: object) => ('memory_id' in example ? { memory_id } : example);
    return { params: { id: 'ana', slot: 'name' }, body };
  },
  deleteProfileLine: async (world) => {
    const { id: memory } = await world.done('POST /v1/memories', { user_id: 'ana', memory: 'Likes tea' });
    await world.done('PUT /v1/users/ana/profile/likes', { memory_id: memory });
    return { params: { id: 'ana', slot: 'likes', memory } };
  },
  openLink: async (world) => ({ key: await world.link() }),
  renewToken: async (world) => ({
    key: (await world.send('POST /v1/session', { key: await world.link() })).body.token,
  }),
  postLink: ofUser,
  endLinks: ofUser,
  getPause: ofUser,
  pauseUser: ofUser,
  resumeUser: ofUser,
  rollbackUser: ofUser,
  getWithoutNights: ofUser,
  getErasure: async (world) => {
    const { user } = await world.consolidated();
    return { params: { id: (await world.done(`DELETE /v1/users/${user}`)).erasure_id } };
  },
  postReplay: async (world) => {
    const { batch } = await world.consolidated('ana');
    return { body: (example) => JSON.parse(JSON.stringify(example).replace('bat_0198c1a2', batch)) };
  },
  postSuite: async (world) => {
    await world.consolidated();
    return { after: ({ name = '' }) => world.done(`DELETE /v1/suites/${name}`) };
  },
  getSuite: ofSuite,
  putSuiteMargins: ofSuite,
  deleteSuite: ofSuite,
  exportSuite: ofSuite,
  postSuiteRun: ofSuite,
  listSuiteRuns: ofSuite,
  getSuiteRun: ofRunOfSuite,
  getSuiteSample: ofRunOfSuite,
  postSuiteAssessments: async (world) => {
    const { name, id, message } = await world.sampledRun();
    return {
      params: { name, id },
      body: (example) => JSON.parse(JSON.stringify(example).replace('msg_0198c1a2', message)),
    };
  },
  getReplay: ofWhatIf,
  discardReplay: ofWhatIf,
  postCanary: async (world) => {
    await world.noCanary();
    return {};
  },
  getCanary: ofCanary,
  releaseHold: async (world) => ({ params: { id: await world.hold() } }),
  stopCanary: ofCanary,
  promoteCanary: ofCanary,
  undoCanary: ofCanary,
  // Of the move that the last example of postIndexMove has started.
  patchIndexMove: async (world) => {
    await world.readyMove();
    return {};
  },
  coolOwner: ofSilent,
  wakeOwner: ofSilent,
  getBundleLines: async (world) => ({ query: { kind: 'user', id: (await world.consolidated()).user } }),
  postImportLines: async (world) => ({ params: { id: await world.importOf('moved-here') } }),
  finishImport: async (world) => {
    const id = await world.importOf('moved-here');
    const { components } = await world.done('GET /openapi.json');
    await world.done(`POST /v1/bundle/imports/${id}/lines`, components.schemas.PostLines.examples[0]);
    return { params: { id } };
  },
  deleteImport: async (world) => ({ params: { id: await world.importOf('half-moved') } }),
  postLeaving: async (world) => {
    await leaver(world, 'nobody-yet');
    return {};
  },
  postDeparture: async (world) => {
    const id = `leaves-${randomUUID()}`;
    const stamp = await leaver(world, id);
    return { body: (example) => ({ ...example, id, stamp }) };
  },
  getDeparture: departed,
  deleteDeparture: departed,
  deleteArrivals: async () => ({ query: { kind: 'user', id: 'nobody-yet' } }),
  getCeilings: ofTenant,
  putCeilings: ofTenant,
  deleteCeilings: ofTenant,
  revokeKey: ofKey,
  rotateKey: ofKey,
  // Nothing happens while it is there: its receiver is not.
  postWebhook: async (world) => {
    await world.quiet();
    return { after: ({ id }) => world.done(`DELETE /v1/webhooks/${id}`) };
  },
  getWebhook: ofWebhook,
  patchWebhook: ofWebhook,
  deleteWebhook: ofWebhook,
  listDeliveries: ofWebhook,
  replayFailedDeliveries: ofWebhook,
  replayDelivery: async (world) => ({ params: { ...(await world.delivery()) } }),
};
