export { traceEngine } from './engine-spans.ts';
export { openExporter, type SpanExporter } from './exporter.ts';
export { traceIngest } from './ingest-span.ts';
