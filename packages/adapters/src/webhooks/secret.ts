import { createHmac, randomBytes } from 'node:crypto';

/** 256 bits: nobody finds them by trying. */
const RANDOM_BYTES = 32;

/** What a webhook is signed with, as its receiver is told it. */
export const newWebhookSecret = (): string => `whsec_${randomBytes(RANDOM_BYTES).toString('base64url')}`;

/** The header x-slowwave-signature: when it was signed, in seconds, and with each secret a digest of that and the body. */
export function signatureOf(body: string, secrets: readonly string[], seconds: number): string {
  const signed = secrets.map((secret) => createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex'));
  return [`t=${seconds}`, ...signed.map((hex) => `v1=${hex}`)].join(',');
}
