export { type ServiceOptions, SlowwaveMemoryService } from './service.ts';
export type { Session, SessionEvent } from './session.ts';
