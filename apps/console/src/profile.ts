import {
  OwnerParams,
  ProfileLineParams,
  ProfileSlotParams,
  type ProfileView,
  PutProfileLine,
  ProfileView as View,
} from '@slowwave/contracts';
import {
  type FilledSlot,
  isoOf,
  type LineResult,
  type ProfileFact,
  putLine,
  readProfile,
  type TenantId,
  takeLine,
} from '@slowwave/engine';
import { type FastifyReply, notFound, problem } from '@slowwave/http';
import { type ConsoleDeps, routesOf } from './deps.ts';
import { textKept } from './memories.ts';
import { refusePaused } from './subjects.ts';

const route = routesOf('profile');

/** What a profile says of a user. */
export const getProfile = route('GET /v1/users/:id/profile', {
  id: 'getProfile',
  summary: 'Get the profile of a user',
  description: 'The slots are those of the setting profile_slots, and other. Each line names the memory it comes from.',
  params: OwnerParams,
  answer: View,
  bounds: { by: 'user', apps: false },
  subject: true,
  asleep: 'read',
  handle: (deps, { tenant, params }) => shown(deps, { tenant, userId: params.id }),
});

/** What people change of a profile. */
export const profileWrites = [
  route('PUT /v1/users/:id/profile/:slot', {
    id: 'putProfileLine',
    summary: 'Put a line into a slot of a user’s profile',
    description:
      'The line is a memory of the user: an existing one, or a new one with this text. It is pinned and listed before the ' +
      'lines that nights find, and nights do not change it. In a slot with one line, a new text corrects the line that a person put ' +
      'there before. 202: stored, searchable once the index is available again.',
    params: ProfileSlotParams,
    body: PutProfileLine,
    answer: { 200: View, 202: View },
    bounds: { by: 'user', apps: false },
    subject: true,
    handle: async (deps, { tenant, params: { id: userId, slot }, body, reply }) => {
      const { memory, memory_id: memoryId = '' } = body;
      await refusePaused(deps, tenant, { userId, agentId: null, runId: null, appId: null });
      const line = memory === undefined ? { memoryId } : { text: await textKept(deps.ledger, tenant, memory) };
      settled(await putLine(deps, { tenant, userId }, { slot, line }), { slot, memoryId, reply });
      return shown(deps, { tenant, userId });
    },
  }),
  route('DELETE /v1/users/:id/profile/:slot/:memory', {
    id: 'deleteProfileLine',
    summary: 'Take a line out of a user’s profile',
    description: 'The memory stays, and nights do not put it back. To forget it, delete the memory.',
    params: ProfileLineParams,
    answer: { 200: View, 202: View },
    bounds: { by: 'user', apps: false },
    subject: true,
    handle: async (deps, { tenant, params: { id: userId, slot, memory: memoryId }, reply }) => {
      settled(await takeLine(deps, { tenant, userId }, { slot, memoryId }), { slot, memoryId, reply });
      return shown(deps, { tenant, userId });
    },
  }),
];

interface Whose {
  readonly tenant: TenantId;
  readonly userId: string;
}

async function shown(deps: Pick<ConsoleDeps, 'ledger' | 'tools'>, whose: Whose): Promise<ProfileView> {
  const filled = await readProfile(deps, whose);
  return { user_id: whose.userId, slots: filled.map(slotView) };
}

const slotView = ({ slot, lines, leftOut }: FilledSlot<ProfileFact>): ProfileView['slots'][number] => ({
  name: slot.name,
  about: slot.about,
  lines: lines.map(({ fact, by }) => ({
    memory_id: fact.memoryId,
    version: fact.version,
    memory: fact.text,
    by,
    said_at: isoOf(fact.saidAt.at),
    valid_from: isoOf(fact.validFrom),
  })),
  left_out: leftOut,
});

interface Asked {
  readonly slot: string;
  readonly memoryId: string;
  readonly reply: FastifyReply;
}

function settled(result: LineResult, { slot, memoryId, reply }: Asked): void {
  switch (result.kind) {
    case 'written':
    case 'words':
      return;
    case 'unprojected':
      reply.code(202);
      return;
    case 'no_slot':
      throw problem(
        'not_found',
        `expected one of the slots ${result.names.join(', ')}, got ${slot}; see profile_slots in /v1/settings`,
      );
    case 'full':
      throw problem(
        'conflict',
        `people have filled the slot ${slot}, which has ${result.lines} lines; take one out first, or allow more in profile_slots`,
      );
    case 'immutable':
      throw problem(
        'immutable_memory',
        `the line of the slot ${slot} is immutable; set "immutable": false on its memory first`,
      );
    case 'not_found':
      throw notFound('memory in this profile', memoryId);
    default:
      throw problem('conflict', 'another request changed this memory at the same time; retry');
  }
}
