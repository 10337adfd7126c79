/** Everything that was posted of a user, in order, as "role: content". */
export async function saidOf(url: string, userId: string): Promise<string[]> {
  const answer = await fetch(`${url}/v1/users/${encodeURIComponent(userId)}/export`);
  if (!answer.ok) throw new Error(await answer.text());
  const lines = (await answer.text()).trimEnd().split('\n');
  return lines
    .map((line) => JSON.parse(line) as { type: string; role: string; content: string })
    .flatMap(({ type, role, content }) => (type === 'message' ? [`${role}: ${content}`] : []));
}

/** Waits until everything that was posted of a user is remembered. */
export async function allRemembered(url: string, userId: string): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  await fetch(`${url}/v1/flush`, { method: 'POST', headers, body: JSON.stringify({ user_id: userId }) });
  const listed = await fetch(`${url}/v1/batches?limit=200&user_id=${encodeURIComponent(userId)}`);
  const { results } = (await listed.json()) as { results: readonly { id: string }[] };
  for (const { id } of results) await (await fetch(`${url}/v1/batches/${id}?wait=60000`)).text();
}
