/** What a started server prints: what it runs on, its URLs, and commands to try. */
export function welcome({
  url,
  runsOn,
  keyed,
}: {
  url: string;
  runsOn: Record<string, string>;
  keyed: boolean;
}): string {
  const key = keyed ? ` -H "authorization: Bearer $SLOWWAVE_API_KEY"` : '';
  const parts = Object.entries(runsOn).map(([part, place]) => `  ${part.replaceAll('_', ' ').padEnd(16)} ${place}`);
  return `
Slowwave is listening on ${url}

${parts.join('\n')}

  console          ${url}/  (try ${url}/playground)
  API page         ${url}/docs
  queues           ${url}/queues
  health           ${url}/healthz  ${url}/readyz  ${url}/metrics

Try it:

  curl -s '${url}/v1/batches?wait=5000'${key} -H 'content-type: application/json' \\
    -d '{"user_id":"ana","flush":true,"messages":[{"role":"user","content":"I am Ana and I moved from Lisbon to Oslo."}]}'

  curl -s ${url}/v1/search${key} -H 'content-type: application/json' \\
    -d '{"user_id":"ana","query":"where does she live?"}'

Ctrl-C stops it; the data stays.
`;
}
