import { createHash } from 'node:crypto';

/** 16 and 8 bytes, as the OpenTelemetry protocol has them. */
const TRACE_ID_HEX = 32;
const SPAN_ID_HEX = 16;

/** Every process finds a batch's trace by the batch's id: nothing has to travel through the queue. */
export const traceIdOf = (batchId: string): string => hex(`trace ${batchId}`, TRACE_ID_HEX);

/** The span that a batch's trace begins with. */
export const postSpanOf = (batchId: string): string => hex(`post ${batchId}`, SPAN_ID_HEX);

/** A batch's part in one try to consolidate it. */
export const turnSpanOf = (turn: { consolidationId: string; epoch: number }, batchId: string): string =>
  hex(`turn ${turn.consolidationId} ${turn.epoch} ${batchId}`, SPAN_ID_HEX);

const hex = (text: string, length: number): string => createHash('sha256').update(text).digest('hex').slice(0, length);
