export { newWebhookSecret } from './secret.ts';
export { webhookSender } from './sender.ts';
