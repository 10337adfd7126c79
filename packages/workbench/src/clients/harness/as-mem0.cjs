/** Loaded before a program: what it asks of mem0's own service is asked of MEM0_HOST. */
const http = require('node:http');
const https = require('node:https');

const OWN = 'api.mem0.ai';
// biome-ignore lint/style/noProcessEnv: it is told so by whoever starts the program
const { hostname, port, pathname } = new URL(process.env.MEM0_HOST);

const ask = globalThis.fetch;
globalThis.fetch = (input, init) => {
  const {
    hostname: to,
    pathname: path,
    search,
  } = new URL(typeof input === 'object' && 'url' in input ? input.url : input);
  return ask(to === OWN ? `http://${hostname}:${port}${pathname}${path}${search}` : input, init);
};

const request = https.request;
https.request = (options, ...rest) => {
  if (options.hostname !== OWN) return request(options, ...rest);
  const { agent, agents, ...kept } = options;
  return http.request(
    { ...kept, protocol: 'http:', hostname, host: hostname, port, path: pathname + options.path },
    ...rest,
  );
};
