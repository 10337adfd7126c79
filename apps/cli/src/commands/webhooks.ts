import type { DeliveryView, WebhookView, WebhookWithSecret } from '@slowwave/contracts';
import type { z } from 'zod';
import { ofTenant } from '../api.ts';
import { type Command, pathWord, present, TENANT } from '../command.ts';
import { type Columns, LIMIT, listed, pairs } from '../output.ts';

export const webhookCommands: readonly Command[] = [
  {
    name: 'webhooks list',
    summary: 'List webhooks and their status, newest first.',
    options: { tenant: TENANT, limit: LIMIT },
    run: async (call) => {
      const query = { tenant: call.given.text('tenant') };
      return listed(call, {
        path: '/v1/webhooks',
        query,
        columns: COLUMNS,
        as: 'webhooks',
        none: 'There are no webhooks.',
      });
    },
  },
  {
    name: 'webhooks create',
    usage: '<url>',
    summary: 'Create a webhook. The secret that signs its deliveries is shown once.',
    options: {
      events: { value: 'LIST', about: 'Events, separated by commas, e.g. memory.added,batch.parked. Required.' },
      name: { value: 'TEXT', about: 'A display name.' },
      user: { value: 'ID', about: 'Only events of this user.' },
      app: { value: 'ID', about: 'Only events of this app.' },
      tenant: TENANT,
    },
    run: async (call) => {
      const { given, ask } = call;
      const bound = { user_id: given.text('user'), app_id: given.text('app'), name: given.text('name') };
      const events = (given.text('events') ?? '').split(',').filter((event) => event !== '');
      const webhook = await ask<z.infer<typeof WebhookWithSecret>>('POST', ofTenant('/v1/webhooks', call), {
        url: given.words[0],
        events,
        ...present(bound),
      });
      return {
        value: webhook,
        text: pairs([
          ['webhook', webhook.id],
          ['secret', webhook.secret ?? null],
        ]),
      };
    },
  },
  {
    name: 'webhooks delete',
    usage: '<webhook>',
    summary: 'Delete a webhook and its deliveries, including waiting ones.',
    options: { tenant: TENANT },
    run: async (call) => {
      const path = ofTenant(`/v1/webhooks/${pathWord(call)}`, call);
      const webhook = await call.ask<z.infer<typeof WebhookView>>('DELETE', path);
      return { value: webhook, text: `Webhook ${webhook.id} is deleted.` };
    },
  },
  {
    name: 'webhooks deliveries',
    usage: '<webhook>',
    summary: 'List the deliveries of a webhook, newest first.',
    options: {
      state: { value: 'STATE', about: 'Only those that are waiting, delivered or failed.' },
      tenant: TENANT,
      limit: LIMIT,
    },
    run: async (call) => {
      const { given } = call;
      const path = `/v1/webhooks/${pathWord(call)}/deliveries`;
      const query = { state: given.text('state'), tenant: given.text('tenant') };
      return listed(call, { path, query, columns: DELIVERIES, as: 'deliveries', none: 'No deliveries found.' });
    },
  },
  {
    name: 'webhooks replay',
    usage: '<webhook>',
    summary: 'Send all failed deliveries of a webhook again.',
    options: { tenant: TENANT },
    run: async (call) => {
      const path = ofTenant(`/v1/webhooks/${pathWord(call)}/deliveries/replay`, call);
      const answer = await call.ask<{ readonly replayed: number }>('POST', path);
      return { value: answer, text: `Deliveries sent again: ${answer.replayed}.` };
    },
  },
];

const COLUMNS: Columns<z.infer<typeof WebhookView>> = {
  id: 'id',
  name: 'name',
  url: 'url',
  events: ({ events }) => events.join(','),
  state: ({ active, paused_at }) => (paused_at !== null ? 'paused' : active ? 'active' : 'off'),
  'last error': 'last_error',
};

const DELIVERIES: Columns<z.infer<typeof DeliveryView>> = {
  at: 'created_at',
  id: 'id',
  event: 'type',
  state: 'state',
  attempts: ({ attempts }) => String(attempts),
  last: ({ last_status, last_error }) => last_error ?? (last_status === null ? null : String(last_status)),
};
