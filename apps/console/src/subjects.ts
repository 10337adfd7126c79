import {
  EndedLinks,
  LinkView,
  OpenedLink,
  OwnerParams,
  PauseView,
  PostLink,
  RenewedToken,
  SessionView,
} from '@slowwave/contracts';
import {
  isoOf,
  isoOrNull,
  type Lane,
  type Millis,
  type Owner,
  ownerOf,
  type Scope,
  type TenantId,
} from '@slowwave/engine';
import {
  concerns,
  type FastifyRequest,
  isKeyless,
  isOperator,
  type Principal,
  principalOf,
  problem,
} from '@slowwave/http';
import { type ConsoleDeps, routesOf } from './deps.ts';

const route = routesOf('subjects');

/** How long a token is valid unless its page renews it: a page that is closed or forgotten is soon of no use to anybody. */
const TOKEN_MS = 15 * 60_000;
const SECOND_MS = 1_000;

/** Who somebody is to the server, and how links make people known to it. Open to whoever is known at all. */
export const sessionRoutes = [
  route('GET /v1/session', {
    id: 'getSession',
    summary: 'Get what the key of a request may do',
    answer: SessionView,
    handle: async (_deps, { request }) => sessionView(request),
  }),
  route('POST /v1/session', {
    id: 'openLink',
    summary: 'Open a link, once',
    description:
      'Sent by the page behind the link, with the link’s secret as the key (authorization: Bearer sw_lnk_…). ' +
      'The token in the response is valid for 15 minutes and can be renewed. Opening the same link again is refused with ' +
      'link_opened.',
    answer: { 201: OpenedLink },
    audited: true,
    handle: async ({ ledger, tools, newSecret }, { request }) => {
      const { keyId, userId, came } = principalOf(request);
      if (keyId === null || userId === null || came?.by !== 'link' || came.at !== null) throw notALink();
      concerns(request, { kind: 'user', id: userId });
      const now = tools.now();
      const { secret, hash } = newSecret(keyId);
      const link = await ledger.links.find(keyId);
      const until = Math.min(now + TOKEN_MS, link?.expiresAt ?? now);
      if (link === null || !(await ledger.links.open(keyId, { hash, until }, now))) throw openedAlready();
      const opened = { ...sessionView(request), scopes: ['subject' as const] };
      return { ...opened, token: secret, ...expiryOf(until, link.expiresAt) };
    },
  }),
  route('POST /v1/session/renew', {
    id: 'renewToken',
    summary: 'Renew the token of an open link',
    description:
      'Sent with the token itself, before it expires. It is then valid for another 15 minutes, up to the end of its link.',
    answer: RenewedToken,
    audited: false,
    handle: async ({ ledger, tools }, { request }) => {
      const { keyId, came } = principalOf(request);
      if (keyId === null || came?.by !== 'link') throw notALink();
      const now = tools.now();
      const link = await ledger.links.prolong(keyId, now + TOKEN_MS, now);
      if (link?.token == null) throw problem('unauthorized', 'this token has expired; open a new link');
      return expiryOf(link.token.until, link.expiresAt);
    },
  }),
];

function sessionView(request: FastifyRequest) {
  const principal: Principal = principalOf(request);
  const { keyId, tenant, scopes, userId, appId } = principal;
  return {
    ...{ key_id: keyId, tenant, scopes: [...scopes], user_id: userId, app_id: appId },
    operator: isOperator(principal),
    keyless: isKeyless(request),
  };
}

const expiryOf = (token: Millis, link: Millis) => ({
  token_expires_at: isoOf(token),
  link_expires_at: isoOf(link),
});

const notALink = () =>
  problem('conflict', 'expected the secret of a link as the key (sw_lnk_…); use other keys directly');

/** Somebody else was faster. */
const openedAlready = () =>
  problem('link_opened', 'this link has already been opened, and each link opens only once; request a new one');

/** Links to the page of a user, and whether anything new is remembered of them. */
export const subjectRoutes = [
  route('POST /v1/users/:id/links', {
    id: 'postLink',
    summary: 'Create a link to a user’s own page',
    description:
      'Anyone who opens it can see, correct, export, pause and erase what is remembered about this user. It opens only once. ' +
      'Give it only to the user. Its secret is in the part after #, which browsers do not send to servers.',
    params: OwnerParams,
    body: PostLink,
    answer: { 201: LinkView },
    bounds: { by: 'user', apps: false },
    handle: async ({ ledger, tools, newSecret }, { tenant, params, body }) => {
      const userId = params.id;
      const id = tools.id('lnk');
      const { secret, hash } = newSecret(id);
      const createdAt = tools.now();
      const expiresAt = createdAt + body.valid_seconds * SECOND_MS;
      await ledger.links.create({ id, tenant, userId, hash, createdAt, expiresAt });
      return { id, user_id: userId, path: `/me#${secret}`, expires_at: isoOf(expiresAt) };
    },
  }),
  route('DELETE /v1/users/:id/links', {
    id: 'endLinks',
    summary: 'End all links to a user’s own page',
    description: 'Unopened links become invalid, and open pages end within 5 s.',
    params: OwnerParams,
    answer: EndedLinks,
    bounds: { by: 'user', apps: false },
    handle: async ({ ledger }, { tenant, params }) => ({ ended: await ledger.links.end(tenant, params.id) }),
  }),
  route('GET /v1/users/:id/pause', {
    id: 'getPause',
    summary: 'Get whether memory is paused for a user',
    params: OwnerParams,
    answer: PauseView,
    bounds: { by: 'user', apps: false },
    subject: true,
    handle: async ({ ledger }, { tenant, params }) =>
      pauseView(params.id, await ledger.lanes.find(tenant, userOf(params.id))),
  }),
  route('PUT /v1/users/:id/pause', {
    id: 'pauseUser',
    summary: 'Pause memory for a user',
    description:
      'From now on, only the fact that something was posted is stored, and the response says so (paused). The content is never ' +
      'remembered, even if it is sent again later. Earlier posts are still consolidated. Existing memories stay and can be ' +
      'searched; writing new ones is refused with 409.',
    params: OwnerParams,
    answer: PauseView,
    bounds: { by: 'user', apps: false },
    subject: true,
    handle: async (deps, { tenant, params }) => setPaused(deps, { tenant, userId: params.id, paused: true }),
  }),
  route('DELETE /v1/users/:id/pause', {
    id: 'resumeUser',
    summary: 'Resume memory for a user',
    params: OwnerParams,
    answer: PauseView,
    bounds: { by: 'user', apps: false },
    subject: true,
    handle: async (deps, { tenant, params }) => setPaused(deps, { tenant, userId: params.id, paused: false }),
  }),
];

const userOf = (id: string): Owner => ({ kind: 'user', id });

const pauseView = (userId: string, lane: Lane | null): PauseView => ({
  user_id: userId,
  paused_at: isoOrNull(lane?.pausedAt ?? null),
});

interface Pausing {
  readonly tenant: TenantId;
  readonly userId: string;
  readonly paused: boolean;
}

async function setPaused({ ledger, tools }: ConsoleDeps, { tenant, userId, paused }: Pausing): Promise<PauseView> {
  const now = tools.now();
  const id = await ledger.memories.laneOf(tenant, userOf(userId), now);
  const lane = await ledger.lanes.pause(id, { paused, now });
  if (lane === null)
    throw problem('conflict', `user ${JSON.stringify(userId)} is being erased; send the request again`);
  return pauseView(userId, lane);
}

/** Throws while the owner of what is to be written wants nothing new remembered. */
export async function refusePaused(
  { ledger }: Pick<ConsoleDeps, 'ledger'>,
  tenant: TenantId,
  scope: Scope,
): Promise<void> {
  const lane = await ledger.lanes.find(tenant, ownerOf(scope));
  if (lane === null || lane.pausedAt === null) return;
  const { kind, id } = lane.owner;
  throw problem(
    'paused',
    `memory has been paused for ${kind} ${JSON.stringify(id)} since ${isoOf(lane.pausedAt)}; nothing was written. ` +
      'Resume it on the user’s own page, or with DELETE /v1/users/{id}/pause',
  );
}
