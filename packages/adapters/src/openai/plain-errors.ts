import { patientFetch } from '../system/patient-fetch.ts';

/**
 * fetch, but every refusal carries its explanation where OpenAI puts it. Other servers send `{message}`, `{detail}` or
 * plain text, of which the library would keep nothing.
 */
export async function fetchWithPlainErrors(...[url, init]: Parameters<typeof fetch>): Promise<Response> {
  const response = await patientFetch(url, init);
  if (response.ok) return response;
  const { status, headers } = response;
  return new Response(JSON.stringify({ error: errorIn(await response.text()) }), { status, headers: plain(headers) });
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
