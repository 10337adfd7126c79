export { createLog, type LogLevel, type LogOptions } from './log.ts';
