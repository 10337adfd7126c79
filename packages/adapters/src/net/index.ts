export {
  type GuardedAnswer,
  type GuardedRequest,
  guardedImages,
  guardedLookup,
  guardedRequest,
  type Resolve,
} from './guarded.ts';
export { isRange, type UrlPolicy, urlPolicy } from './url-policy.ts';
