import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface ReceivedCall {
  readonly model: string;
  readonly body: Record<string, unknown>;
}

/** Answer of the judge: a text, or an error status. The text `no answer` leaves the request without an answer. */
type JudgeAnswer = string | { readonly status: number };

/** Loopback upstream in the chat-completions format. The model `x` answers `from x`. */
export interface TierUpstream {
  readonly url: string;
  /** Received requests. Tests may empty the list. */
  readonly seen: ReceivedCall[];
  /** Answer of the model `judge-1`. */
  judge: JudgeAnswer;
  /** Error statuses of models that fail. */
  readonly failing: Map<string, number>;
  stop(): void;
}

const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };

async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>;
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

function sendStream(response: ServerResponse, model: string): void {
  const chunk = (delta: object, more: object = {}): string =>
    `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model, choices: [{ index: 0, delta, finish_reason: null }], ...more })}\n\n`;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(chunk({ role: 'assistant', content: 'from ' }));
  response.write(chunk({ content: model }));
  response.write(chunk({}, { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }));
  response.write(chunk({}, { choices: [], usage: USAGE }));
  response.end('data: [DONE]\n\n');
}

export async function startTierUpstream(): Promise<TierUpstream> {
  const state: { judge: JudgeAnswer } = { judge: '{}' };
  const seen: ReceivedCall[] = [];
  const failing = new Map<string, number>();
  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      const model = String(body['model']);
      seen.push({ model, body });
      const failure = failing.get(model);
      if (failure !== undefined) return sendJson(response, failure, { error: { message: 'failing' } });
      const { judge } = state;
      if (model === 'judge-1' && judge === 'no answer') return undefined;
      if (model === 'judge-1' && typeof judge !== 'string')
        return sendJson(response, judge.status, { error: { message: 'judge fails' } });
      if (body['stream'] === true) return sendStream(response, model);
      const content = model === 'judge-1' ? judge : `from ${model}`;
      return sendJson(response, 200, {
        id: 'chatcmpl-1',
        object: 'chat.completion',
        created: 1,
        model,
        choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
        usage: USAGE,
      });
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    seen,
    failing,
    get judge() {
      return state.judge;
    },
    set judge(answer: JudgeAnswer) {
      state.judge = answer;
    },
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** A model of the upstream in a configuration. `price` is in USD per token. */
export const tierModel = (name: string, url: string, price = 0.001) => ({
  model_name: name,
  litellm_params: {
    model: `openai/${name}`,
    api_base: url,
    api_key: 'sk-upstream-credential-0123456789',
    use_chat_completions_api: true,
    input_cost_per_token: price,
    output_cost_per_token: price,
  },
});

/** A router in a configuration. `config` is its `complexity_router_config`. */
export const routerModel = (name: string, config: Record<string, unknown>, defaultModel?: string) => ({
  model_name: name,
  litellm_params: {
    model: 'auto_router/complexity_router',
    complexity_router_config: config,
    ...(defaultModel === undefined ? {} : { complexity_router_default_model: defaultModel }),
  },
});

export const FOUR_TIERS = { SIMPLE: 'tier-s', MEDIUM: 'tier-m', COMPLEX: 'tier-c', REASONING: 'tier-r' };

/** Configuration of a capability router over the first and the last tier. */
export const CAPABILITY = {
  tiers: { SIMPLE: 'tier-s', REASONING: 'tier-r' },
  classifier_type: 'capability',
  classifier_llm_config: { model: 'judge-1', timeout_ms: 400, circuit_breaker_cooldown_seconds: 0.2 },
  capability_classifier_config: {
    efficient_tier: 'SIMPLE',
    capable_tier: 'REASONING',
    base_threshold: 0.6,
    threshold_step: 0.1,
  },
};

/** Configuration of a Fuse v2 router over the first and the last tier. */
export const FUSE = {
  tiers: { SIMPLE: 'tier-s', REASONING: 'tier-r' },
  classifier_type: 'llm_v2',
  classifier_llm_config: { model: 'judge-1', timeout_ms: 3000 },
  llm_v2_config: { efficient_profile: 'a', capable_profile: 'b', harness: 'c', max_quality_gap: 0.1 },
};

/** Answer of a judge to a capability router. */
export const capabilityAnswer = (probability: number, boundary = 'supported', rule = 'SUP-1'): string =>
  JSON.stringify({ crux: 'a fact', primary_rule: rule, capability_boundary: boundary, p_solve: probability });

/** Answer of a judge to a Fuse v2 router: the probabilities that the two models solve the task. */
export const fuseAnswer = (efficient: number, capable: number): string =>
  JSON.stringify({
    crux: 'the join',
    demands: { reasoning: 'multistep', scope: 'localized', specification: 'clear' },
    verification: 'relevant',
    forecasts: {
      efficient: { likely_failure: 'slow', p_solve: efficient },
      capable: { likely_failure: 'none', p_solve: capable },
    },
  });
