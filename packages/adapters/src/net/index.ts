export { isRange } from './address.ts';
export { guardedImages } from './guarded-images.ts';
export { guardedLookup, type Resolve } from './guarded-lookup.ts';
export { type GuardedAnswer, type GuardedRequest, guardedRequest } from './guarded-request.ts';
export { type UrlPolicy, urlPolicy } from './url-policy.ts';
