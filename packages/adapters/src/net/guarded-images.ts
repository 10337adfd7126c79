import { isIP } from 'node:net';
import { type ChatModel, EngineError } from '@slowwave/engine';
import { asSystem, type Resolve } from './guarded-lookup.ts';
import { hostOf, privateAddress, type UrlPolicy } from './url-policy.ts';

/**
 * A model that is shown images of callers. Its server fetches them, from where it stands: a name that leads into the
 * network from here is refused before the server is told of it. The server asks a name server of its own afterwards, so a
 * name that changes its meaning in between is not held up by this; docs/security.md says what is.
 */
export function guardedImages(
  chat: ChatModel,
  { policy, resolve = asSystem }: { readonly policy: UrlPolicy; readonly resolve?: Resolve },
): ChatModel {
  return {
    name: chat.name,
    ask: async (call, cancel) => {
      for (const host of hostsOf(call.images ?? [])) await checkHost(host, { policy, resolve });
      return chat.ask(call, cancel);
    },
  };
}

/** Data URLs name none. */
function hostsOf(images: readonly string[]): ReadonlySet<string> {
  const remote = images.filter((image) => !image.startsWith('data:'));
  return new Set(remote.map((image) => hostOf(new URL(image))));
}

async function checkHost(host: string, how: { readonly policy: UrlPolicy; readonly resolve: Resolve }): Promise<void> {
  if (how.policy.mayConnect(host, host)) return; // an address that is public, or what the operator lists
  if (isIP(host) !== 0) throw privateAddress(host);
  const found = await how.resolve(host).catch((cause: unknown) => {
    throw unresolved(host, cause);
  });
  if (found.length === 0) throw unresolved(host, null);
  if (!found.every(({ address }) => how.policy.mayConnect(host, address))) throw privateAddress(host);
}

const unresolved = (host: string, cause: unknown): EngineError =>
  new EngineError(
    `expected the host of an image, ${host}, to have an address, got none; send the image as a data URL, or correct it`,
    { code: 'unsupported_content', retryable: true, cause },
  );
