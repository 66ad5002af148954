import { describe, expect, it } from 'vitest';
import { createAbsentEndpoints } from '../../../src/providers/translating.ts';
import type { ModelRequest } from '../../../src/domain/chat/chat.ts';
import type { Deployment } from '../../../src/domain/chat/provider.ts';
import { UpstreamFailed } from '../../../src/domain/errors.ts';
import { RESPONSES, RESPONSES_COMPACT } from '../../../src/domain/inference/endpoint.ts';

const deploymentAt = (apiBase: string): Deployment => ({
  id: 'd',
  modelGroup: 'm',
  provider: 'openai',
  upstreamModel: 'up',
  apiBase,
  apiKey: null,
  options: {},
  secrets: {},
  dropParams: false,
  timeoutSeconds: 1,
  priceOverrides: {},
  baseModel: null,
});
const DEPLOYMENT = deploymentAt('http://here/v1');

const requestWith = (body: object = {}): ModelRequest => ({
  endpoint: RESPONSES,
  model: 'm',
  stream: false,
  includeUsage: false,
  bytes: new Uint8Array(),
  body: { model: 'm', input: 'x', ...body },
  callId: null,
  parent: null,
});

const failureWith = (upstreamStatus: number | null, upstreamCode: string | null = null): UpstreamFailed =>
  new UpstreamFailed('no', { provider: 'openai', upstreamStatus, upstreamCode });

const MINUTE_MS = 60_000;

describe('absent endpoints', () => {
  it.each([404, 405, 501])('are recorded for %i, for ten minutes', (status) => {
    let nowMs = 1_000;
    const absent = createAbsentEndpoints(() => nowMs);
    expect(absent.has(RESPONSES, DEPLOYMENT)).toBe(false);
    expect(absent.record(failureWith(status), requestWith(), DEPLOYMENT)).toBe(true);
    nowMs += 10 * MINUTE_MS - 1;
    expect(absent.has(RESPONSES, DEPLOYMENT)).toBe(true);
    nowMs += 1;
    expect(absent.has(RESPONSES, DEPLOYMENT)).toBe(false);
  });

  it('are recorded for one endpoint of one provider at one address', () => {
    const absent = createAbsentEndpoints(() => 0);
    absent.record(failureWith(404), requestWith(), DEPLOYMENT);
    expect(absent.has(RESPONSES_COMPACT, DEPLOYMENT)).toBe(false);
    expect(absent.has(RESPONSES, deploymentAt('http://there/v1'))).toBe(false);
    expect(absent.has(RESPONSES, { ...DEPLOYMENT, provider: 'custom_openai' })).toBe(false);
  });

  it.each([
    ['another status', failureWith(400), {}],
    ['no answer', failureWith(null), {}],
    ['a bug', new Error('x'), {}],
    ['an unknown model', failureWith(404, 'model_not_found'), {}],
    ['an unknown response', failureWith(404), { previous_response_id: 'resp_x' }],
    ['an unknown conversation', failureWith(404), { conversation: 'conv_x' }],
  ])('are not recorded for %s', (_what, failure, body) => {
    const absent = createAbsentEndpoints(() => 0);
    expect(absent.record(failure, requestWith(body), DEPLOYMENT)).toBe(false);
    expect(absent.has(RESPONSES, DEPLOYMENT)).toBe(false);
  });

  it('are limited to 1,000: the oldest is evicted', () => {
    const absent = createAbsentEndpoints(() => 0);
    for (let index = 0; index <= 1_000; index += 1)
      absent.record(failureWith(404), requestWith(), deploymentAt(`http://host-${index}/v1`));
    expect(absent.has(RESPONSES, deploymentAt('http://host-0/v1'))).toBe(false);
    expect(absent.has(RESPONSES, deploymentAt('http://host-1/v1'))).toBe(true);
  });
});
