import { patientFetch } from '../system/patient-fetch.ts';

/**
 * fetch of at most so many bytes, but every refusal carries its explanation where OpenAI puts it. Other servers send `{message}`, `{detail}` or
 * plain text, of which the library would keep nothing.
 */
export const fetchWithPlainErrors =
  (bytesMax?: number): typeof fetch =>
  async (url, init) => {
    const response = await patientFetch(url, init, bytesMax);
    if (response.ok) return response;
    const { status, headers } = response;
    return new Response(JSON.stringify({ error: errorIn(await beginningOf(response)) }), {
      status,
      headers: plain(headers),
    });
  };

/** An explanation is a sentence; what is longer is a page, of which the beginning says as much. */
const EXPLANATION_BYTES_MAX = 64 * 1024;

async function beginningOf({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    chunks.push(chunk);
    bytes += chunk.byteLength;
    if (bytes >= EXPLANATION_BYTES_MAX) break;
  }
  return Buffer.concat(chunks).toString('utf8');
}

function errorIn(text: string): unknown {
  const body = parsed(text);
  if (typeof body !== 'object' || body === null) return { message: text };
  if ('error' in body) return typeof body.error === 'string' ? { message: body.error } : body.error;
  return 'detail' in body ? { message: body.detail } : body;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** The headers without those that described the body as it was sent. */
function plain(headers: Headers): Headers {
  const kept = new Headers(headers);
  for (const name of ['content-encoding', 'content-length', 'transfer-encoding']) kept.delete(name);
  kept.set('content-type', 'application/json');
  return kept;
}
