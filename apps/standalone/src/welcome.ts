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
  const json = ` -H 'content-type: application/json'`;
  return `
Slowwave is listening on ${url}

${parts.join('\n')}

  console          ${url}/
  API page         ${url}/docs
  queues           ${url}/queues
  health           ${url}/healthz  ${url}/readyz  ${url}/metrics

Ctrl-C stops it and keeps the data. To get started:

  see it work      ${url}/playground
  say something    curl -s '${url}/v1/batches?wait=5000'${key}${json} -d '{"user_id":"ana","flush":true,"messages":"I am Ana and I moved from Lisbon to Oslo."}'
  ask for it       curl -s ${url}/v1/search${key}${json} -d '{"user_id":"ana","query":"where does she live?"}'
`;
}
