import { describe, expect, it } from 'vitest';
import type { CatalogEntry } from '../../../src/domain/catalog/catalog.ts';
import type { Deployment } from '../../../src/domain/chat/provider.ts';
import { probeRequestFor } from '../../../src/domain/deployments/probe.ts';
import { type ProbeSettings, DEFAULT_PROBE_SETTINGS } from '../../../src/domain/deployments/probe-settings.ts';

const PROMPT = 'Are you there? Answer with one word.';
const deployment = (settings: Partial<ProbeSettings> = {}, overrides: Partial<Deployment> = {}): Deployment => ({
  id: 'd',
  modelGroup: 'm',
  provider: 'groq',
  upstreamModel: 'up',
  apiBase: null,
  apiKey: null,
  options: {},
  secrets: {},
  dropParams: false,
  timeoutSeconds: 600,
  priceOverrides: {},
  baseModel: null,
  probe: { ...DEFAULT_PROBE_SETTINGS, ...settings },
  ...overrides,
});
const entry = (mode: string, row: object = {}): CatalogEntry => ({ id: 'm', provider: null, mode, row: { ...row } });

/** Path and body of the request, or the reason why there is no request. */
function probeOf(probed: Deployment, catalogEntry: CatalogEntry | null = null): readonly [string, object] | string {
  const request = probeRequestFor(probed, catalogEntry);
  return typeof request === 'string' ? request : [request.endpoint.path, request.body];
}

describe('the request of a health check', () => {
  it.each([
    ['chat', '/chat/completions', { messages: [{ role: 'user', content: PROMPT }], max_tokens: 16 }],
    ['responses', '/responses', { input: PROMPT, store: false, max_output_tokens: 16 }],
    ['completion', '/completions', { prompt: PROMPT, max_tokens: 16 }],
    ['embedding', '/embeddings', { input: [PROMPT] }],
    ['moderation', '/moderations', { input: PROMPT }],
    ['rerank', '/rerank', { query: PROMPT, documents: ['Yes.', 'No.'] }],
    ['audio_speech', '/audio/speech', { input: 'Yes.', voice: 'alloy' }],
    ['image_generation', '/images/generations', { prompt: 'A dot.' }],
  ])('depends on the mode that is configured or in the catalog: %s', (mode, path, body) => {
    expect(probeOf(deployment({ mode }), entry('chat'))).toEqual([path, body]);
    expect(probeOf(deployment(), entry(mode))).toEqual([path, body]);
  });

  it.each(['evaluation', 'decisions'])('is one question for a decision model: %s', (mode) => {
    const reachable = { instructions: 'Is the service reachable?' };
    // `noul` is the type of a yes/no question.
    const questions = { reachable: { ...reachable, type: 'noul' } };
    expect(probeOf(deployment({ mode }))).toEqual(['/systemone', { state: PROMPT, questions }]);
    expect(probeOf(deployment(), entry(mode))).toEqual(['/systemone', { state: PROMPT, questions }]);
    // Self-hosted servers may answer choices only.
    const choice = { reachable: { ...reachable, type: 'choice', criteria: { yes: null, no: null } } };
    expect(probeOf(deployment({ mode }, { provider: 'hosted_vllm' }))[1]).toEqual({ state: PROMPT, questions: choice });
  });

  it.each([
    [{ state: 'up?' }, { state: 'up?' }],
    [
      { questions: { q: { type: 'noul', instructions: 'ok?' } } },
      { questions: { q: { type: 'noul', instructions: 'ok?' } } },
    ],
    [{}, {}],
  ])('has the configured members for a decision model: %j', (decision, changed) => {
    const [, defaultBody] = probeOf(deployment({ mode: 'evaluation' }));
    expect(probeOf(deployment({ mode: 'evaluation', decision }))[1]).toEqual(Object.assign({}, defaultBody, changed));
  });

  it('is a chat completion where the mode is unknown, and a reason where the mode has no small request', () => {
    expect(probeOf(deployment())).toEqual(probeOf(deployment({ mode: 'chat' })));
    expect(probeOf(deployment({ mode: 'realtime' }))).toBe('There is no health check for the mode "realtime".');
  });

  it('is sent to the only API of the deployment', () => {
    expect(probeOf(deployment({}, { responses: 'only' }))[0]).toBe('/responses');
  });

  it('has the configured output limit under the name of the upstream, and no default for reasoning models', () => {
    const messages = [{ role: 'user', content: PROMPT }];
    expect(probeOf(deployment({ maxTokens: 40 }))[1]).toEqual({ messages, max_tokens: 40 });
    for (const provider of ['openai', 'azure'])
      expect(probeOf(deployment({}, { provider }))[1]).toEqual({ messages, max_completion_tokens: 16 });
    const thinking = entry('chat', { supports_reasoning: true });
    expect(probeOf(deployment(), thinking)[1]).toEqual({ messages });
    expect(probeOf(deployment({ maxTokens: 40 }), thinking)[1]).toEqual({ messages, max_tokens: 40 });
  });

  it('has the configured model name without its provider; a wildcard deployment requires a configured name', () => {
    const wildcard = { upstreamModel: '*' };
    expect(probeOf(deployment({}, wildcard))).toBe(
      'A wildcard stands for many models: set model_info.health_check_model to the model to call.',
    );
    for (const model of ['groq/small', 'small'])
      expect(probeRequestFor(deployment({ model, timeoutSeconds: 7 }, wildcard), null)).toMatchObject({
        upstreamModel: 'small',
        timeoutSeconds: 7,
      });
  });
});
