import type { App } from './types.ts';

const KIB = 1_024;
const MIB = 1_024 * KIB;

/**
 * Largest bodies, in bytes: what the other limits of a route let through, with twelve bytes for each character. That is
 * what an emoji takes from clients that escape whatever is not ASCII.
 */
const FORM = 4 * KIB;
const USUAL = 64 * KIB;
/** A memory of 8,000 characters and 16,000 of metadata; or the ids of a thousand memories. */
const MEMORY = 256 * KIB;
/**
 * A query of 20,000 characters and 130,000 of filters; two prompts of 20,000, four instructions of 4,000, 50 categories and
 * 100 prices; or prompts, instructions and the ids of a thousand batches.
 */
const LONG = MIB;
/** A transcript of some hundred thousand tokens; or a thousand memories. */
const CONVERSATION = 8 * MIB;

/** The largest body of a route, in bytes, where it is not the usual one. */
export const BODY_LIMITS: Readonly<Record<string, number>> = {
  'POST /login': FORM,
  'POST /logout': FORM,
  'POST /v1/memories': MEMORY,
  'PATCH /v1/memories/:id': MEMORY,
  'PUT /mem0/v1/memories/:id': MEMORY,
  'PUT /mem0/memories/:id': MEMORY,
  'DELETE /mem0/v1/batch': MEMORY,
  'PUT /v1/settings': LONG,
  'POST /v1/replays': LONG,
  'PATCH /mem0/api/v1/orgs/organizations/:org/projects/:project': LONG,
  'POST /v1/search': LONG,
  'POST /v1/recall': LONG,
  'POST /mem0/v3/memories/search': LONG,
  'POST /mem0/search': LONG,
  'POST /v1/batches': CONVERSATION,
  'POST /v1/consolidations/preview': CONVERSATION,
  'POST /v1/context': CONVERSATION,
  'POST /mem0/v3/memories/add': CONVERSATION,
  'POST /mem0/memories': CONVERSATION,
  'PUT /mem0/v1/batch': CONVERSATION,
};

/** Sets what each route takes that is added from now on. Larger bodies are refused before they are read. */
export function registerBodyLimits(app: App): void {
  app.addHook('onRoute', (route) => {
    const own = [route.method].flat().map((method) => BODY_LIMITS[`${method} ${route.url}`] ?? USUAL);
    route.bodyLimit = Math.max(...own);
  });
}
