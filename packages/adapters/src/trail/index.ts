export { type AuditLog, auditLog } from './audit-log.ts';
