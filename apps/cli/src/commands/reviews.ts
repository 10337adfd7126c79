import { ReviewState, type ReviewView } from '@slowwave/contracts';
import { ofTenant } from '../api.ts';
import { type Command, oneOf, pathWord, present, TENANT } from '../command.ts';
import { type Column, LIMIT, listing } from '../output.ts';

export const reviewsCommand: Command = {
  name: 'reviews',
  summary: 'List the operations that need approval, newest first.',
  options: {
    state: { value: 'STATE', about: `One of ${ReviewState.options.join(', ')}. Default: pending.` },
    user: { value: 'ID', about: 'Only memories of this user.' },
    tenant: TENANT,
    limit: LIMIT,
  },
  run: async (call) => {
    const { given } = call;
    const state = oneOf(given, 'state', ReviewState.options) ?? 'pending';
    const query = { state, user_id: given.text('user'), tenant: given.text('tenant') };
    const { items: reviews, more, text } = await listing(call, { path: '/v1/reviews', query, columns: COLUMNS });
    return { value: { reviews, more }, text: reviews.length === 0 ? `No review is ${state}.` : text };
  },
};

export const approveCommand: Command = {
  name: 'approve',
  usage: '<review>',
  summary: 'Approve what a review proposes; with --text, use another text than the proposed one.',
  options: { text: { value: 'TEXT', about: 'The text to remember instead.' }, tenant: TENANT },
  writes: true,
  run: (call) => decide(call, { decision: 'approve', ...present({ memory: call.given.text('text') }) }),
};

export const rejectCommand: Command = {
  name: 'reject',
  usage: '<review>',
  summary: 'Reject what a review proposes: nothing is changed.',
  options: { tenant: TENANT },
  writes: true,
  run: (call) => decide(call, { decision: 'reject' }),
};

async function decide(call: Parameters<Command['run']>[0], body: object) {
  const path = ofTenant(`/v1/reviews/${pathWord(call)}`, call);
  const review = await call.ask<ReviewView>('POST', path, body);
  return {
    value: review,
    text: `Review ${review.id} is ${review.state}${review.note === null ? '' : `: ${review.note}`}.`,
  };
}

const COLUMNS: readonly Column<ReviewView>[] = [
  { name: 'id', of: ({ id }) => id },
  { name: 'event', of: ({ event }) => event },
  { name: 'user', of: ({ user_id, agent_id, run_id }) => user_id ?? agent_id ?? run_id },
  { name: 'before', of: ({ before }) => before },
  { name: 'after', of: ({ after }) => after },
  { name: 'reason', of: ({ reason }) => reason },
];
