import { expect, test } from 'vitest';
import { ConfigError, readStandaloneConfig } from './config.ts';

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };
const tracesOf = (settings: Readonly<Record<string, string>>) => readStandaloneConfig({}, settings).traces;

test('traces go nowhere unless a collector is named', () => {
  expect(tracesOf({})).toBeNull();
  expect(tracesOf(ENDPOINT)).toEqual({ endpoint: 'http://127.0.0.1:4318', headers: {} });
});

test('headers for the collector are read as OpenTelemetry has them', () => {
  const headers = 'authorization=Basic%20YWJj==, x-team = memory';
  expect(tracesOf({ ...ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS: headers })?.headers).toEqual({
    authorization: 'Basic YWJj==',
    'x-team': 'memory',
  });
});

test.each([
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'secret-host:4318', 'must be a URL'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'secret', 'must be comma-separated name=value pairs'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'x=secret%ff', 'must be comma-separated name=value pairs'],
])('%s %s is refused, and not repeated', (name, value, expected) => {
  const read = () => tracesOf({ ...ENDPOINT, [name]: value });
  expect(read).toThrow(ConfigError);
  expect(read).toThrow(expected);
  expect(read).not.toThrow(/secret/);
});

test('a protocol we do not speak is refused with the one we do', () => {
  expect(() => tracesOf({ ...ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' })).toThrow(
    /must be http\/json.*got "grpc"/,
  );
});
