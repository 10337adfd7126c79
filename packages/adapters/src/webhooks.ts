import { createHmac, randomBytes } from 'node:crypto';
import type { WebhookSender } from '@slowwave/engine';
import { guardedRequest, type Resolve } from './net/guarded.ts';
import type { UrlPolicy } from './net/url-policy.ts';

/** A receiver notes what it is sent and works later; in ms. */
const TIMEOUT_MS = 10_000;
/** Only the status counts. */
const ANSWER_BYTES_MAX = 1_024;
const SECOND_MS = 1_000;

/** Posts over http(s), only where the policy allows. Redirects are answers that are no success. */
export function webhookSender(policy: UrlPolicy, resolve?: Resolve): WebhookSender {
  return {
    post: async ({ url, deliveryId, body, secrets, at }) => {
      const sent = JSON.stringify({ ...JSON.parse(body), delivery_id: deliveryId });
      const headers = {
        'content-type': 'application/json',
        'user-agent': 'slowwave',
        'x-slowwave-delivery': deliveryId,
        'x-slowwave-signature': signatureOf(sent, secrets, Math.floor(at / SECOND_MS)),
      };
      const ask = { method: 'POST', headers, body: sent, timeoutMs: TIMEOUT_MS, bytesMax: ANSWER_BYTES_MAX } as const;
      return guardedRequest(url, ask, resolve === undefined ? { policy } : { policy, resolve });
    },
  };
}

/** 256 bits: nobody finds them by trying. */
const RANDOM_BYTES = 32;

/** What a webhook is signed with, as its receiver is given it. */
export const newWebhookSecret = (): string => `whsec_${randomBytes(RANDOM_BYTES).toString('base64url')}`;

/** The header x-slowwave-signature: when it was signed, in seconds, and with each secret a digest of that and the body. */
function signatureOf(body: string, secrets: readonly string[], seconds: number): string {
  const signed = secrets.map((secret) => createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex'));
  return [`t=${seconds}`, ...signed.map((hex) => `v1=${hex}`)].join(',');
}
