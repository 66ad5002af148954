import { expect, it } from 'vitest';
import type { CallRecord } from '../../../src/domain/calls/call-record.ts';
import { createCallMetrics } from '../../../src/runtime/telemetry/call-metrics.ts';

/** Metrics of two deployments of one model. Its name has characters that labels must escape. */
const metricsOf = () => createCallMetrics((id) => (id === 'd1' || id === 'd2' ? 'gpt "x"\\' : null));

function call(more: { deploymentId?: string; seconds?: number; error?: string; tokens?: number | null } = {}) {
  const { deploymentId = 'd1', seconds = 0.5, error = null, tokens = 9 } = more;
  const startedAt = new Date(0);
  return {
    spend: {
      deploymentId,
      provider: 'openai',
      usage: tokens === null ? null : { inputTokens: tokens, outputTokens: 2 },
      startedAt,
      firstByteAt: error === null ? new Date(15) : null,
      error: error === null ? null : { code: error, message: 'hunter2' },
    },
    span: { startNs: 0n, endNs: BigInt(seconds * 1e9), attributes: { 'gen_ai.operation.name': 'chat' } },
  } as unknown as CallRecord;
}

const LABELS = String.raw`gen_ai_operation_name="chat",gen_ai_provider_name="openai",gen_ai_request_model="gpt \"x\"\\"`;
const linesOf = (text: string, start: string): readonly string[] =>
  text.split('\n').filter((line) => line.startsWith(start));

it('metrics of calls are empty before the first call', () => {
  expect(metricsOf().text()).toBe('');
});

it('durations are counted in cumulative buckets, and failures by code', () => {
  const metrics = metricsOf();
  for (const seconds of [0.01, 0.5, 100]) metrics.record(call({ seconds }));
  metrics.record(call({ error: 'UPSTREAM_FAILED', tokens: null }));
  const name = 'gen_ai_client_operation_duration_seconds';
  const text = metrics.text();
  expect(linesOf(text, `# TYPE ${name}`)).toEqual([`# TYPE ${name} histogram`]);
  const bucket = (edge: string, labels = LABELS) => linesOf(text, `${name}_bucket{${labels},le="${edge}"}`)[0];
  expect([bucket('0.01'), bucket('0.32'), bucket('0.64'), bucket('81.92'), bucket('+Inf')]).toEqual(
    [
      ['0.01', 1],
      ['0.32', 1],
      ['0.64', 2],
      ['81.92', 2],
      ['+Inf', 3],
    ].map(([edge, count]) => `${name}_bucket{${LABELS},le="${edge}"} ${count}`),
  );
  expect(linesOf(text, `${name}_sum{${LABELS}}`)).toEqual([`${name}_sum{${LABELS}} 100.51`]);
  const failed = `${LABELS},error_type="UPSTREAM_FAILED"`;
  expect(linesOf(text, `${name}_count`)).toEqual([`${name}_count{${LABELS}} 3`, `${name}_count{${failed}} 1`]);
  expect(text).not.toContain('hunter2');
});

it('tokens are counted by type, and the time to the first byte is measured', () => {
  const metrics = metricsOf();
  metrics.record(call({ tokens: 9 }));
  metrics.record(call({ tokens: 1000 }));
  const text = metrics.text();
  const usage = 'gen_ai_client_token_usage';
  expect(linesOf(text, `${usage}_sum`)).toEqual([
    `${usage}_sum{${LABELS},gen_ai_token_type="input"} 1009`,
    `${usage}_sum{${LABELS},gen_ai_token_type="output"} 4`,
  ]);
  const timeToFirstChunk = 'gen_ai_client_operation_time_to_first_chunk_seconds';
  expect(linesOf(text, `${timeToFirstChunk}_sum`)).toEqual([`${timeToFirstChunk}_sum{${LABELS}} 0.03`]);
});

it('deployments of one model are counted in one series, and unknown deployments in another', () => {
  const metrics = metricsOf();
  for (const deploymentId of ['d1', 'd2', 'unknown', 'other']) {
    metrics.record(call({ deploymentId, tokens: 3 }));
    metrics.record(call({ deploymentId, error: 'TIMEOUT', tokens: null }));
  }
  const text = metrics.text();
  const otherLabels = 'gen_ai_operation_name="chat",gen_ai_provider_name="openai",gen_ai_request_model="_other"';
  const name = 'gen_ai_client_operation_duration_seconds';
  expect(linesOf(text, `${name}_count`)).toEqual(
    [LABELS, otherLabels].flatMap((labels) => [
      `${name}_count{${labels}} 2`,
      `${name}_count{${labels},error_type="TIMEOUT"} 2`,
    ]),
  );
  const usage = 'gen_ai_client_token_usage';
  expect(linesOf(text, `${usage}_sum`)).toEqual(
    [LABELS, otherLabels].flatMap((labels) => [
      `${usage}_sum{${labels},gen_ai_token_type="input"} 6`,
      `${usage}_sum{${labels},gen_ai_token_type="output"} 4`,
    ]),
  );
});

it('an unknown deployment has the label _other, and series above 5,000 are counted together', () => {
  const metrics = createCallMetrics((id) => (id.startsWith('d-') ? id : null));
  metrics.record(call({ deploymentId: 'unknown' }));
  expect(metrics.text()).toContain('gen_ai_request_model="_other"');
  for (let index = 0; index < 5_100; index += 1) metrics.record(call({ deploymentId: `d-${index}` }));
  const counts = linesOf(metrics.text(), 'gen_ai_client_operation_duration_seconds_count');
  // The unknown deployment and 4,999 others have a series each; the other 101 deployments share one.
  expect(counts).toHaveLength(5_001);
  expect(counts.at(-1)).toBe('gen_ai_client_operation_duration_seconds_count{gen_ai_request_model="_other"} 101');
});
