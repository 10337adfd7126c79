export { endpointReranker } from './endpoint.ts';
export { meteredReranker } from './metered.ts';
