import { afterAll, beforeAll, beforeEach, expect, vi } from 'vitest';
import { POLLING } from '../../support/polling.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import {
  CAPABILITY,
  FOUR_TIERS,
  FUSE,
  routerModel,
  startTierUpstream,
  tierModel,
  type TierUpstream,
} from '../../support/tier-upstream.ts';

// Upstream and app of one test file. `useRouters` assigns them before the tests.
/* oxlint-disable import/no-mutable-exports */
export let upstream: TierUpstream;
export let app: TestApp;
/* oxlint-enable import/no-mutable-exports */
let key: string;

/** Registers hooks that start and stop `upstream` and `app`. Each test file calls this function. */
export function useRouters(): void {
  beforeAll(async () => {
    upstream = await startTierUpstream();
    const judge = { model: 'judge-1', timeout_ms: 400, circuit_breaker_cooldown_seconds: 0.2 };
    app = await startApp({
      config: {
        model_list: [
          ...Object.values(FOUR_TIERS).map((name) => tierModel(name, upstream.url)),
          tierModel('judge-1', upstream.url, 0.01),
          tierModel('spare', upstream.url),
          routerModel('smart', {
            tiers: FOUR_TIERS,
            keyword_tier_rules: [
              { keywords: ['kubernetes'], tier: 'COMPLEX' },
              { keywords: ['theorem'], tier: 'REASONING' },
            ],
            escalation_keywords: ['try harder'],
          }),
          routerModel('sticky', { tiers: FOUR_TIERS, session_affinity: true }),
          routerModel('turns', { tiers: FOUR_TIERS, classification_mode: 'user_turn' }),
          routerModel('judged', {
            tiers: FOUR_TIERS,
            tier_labels: { SIMPLE: 'Cheap' },
            classifier_type: 'llm',
            classifier_llm_config: judge,
          }),
          routerModel(
            'judged-default',
            {
              tiers: { SIMPLE: 'tier-s' },
              classifier_type: 'llm',
              classifier_llm_config: judge,
              classifier_fallback: 'default_model',
            },
            'spare',
          ),
          routerModel('first', {
            tiers: FOUR_TIERS,
            classifier_type: 'heuristic_first',
            heuristic_first_max_tier: 'SIMPLE',
            classifier_llm_config: judge,
          }),
          routerModel('hybrid', {
            tiers: FOUR_TIERS,
            classifier_type: 'hybrid',
            hybrid_boundary_margin: 0.03,
            classifier_llm_config: judge,
          }),
          routerModel('capable', CAPABILITY),
          routerModel('fuse', FUSE),
          routerModel('effort', {
            tiers: { SIMPLE: { model_name: 'tier-s', litellm_params: { reasoning_effort: 'low' } } },
          }),
          routerModel('lost', { tiers: { SIMPLE: 'nowhere' } }),
          routerModel('nested', { tiers: { SIMPLE: 'smart' } }),
        ],
        router_settings: { num_retries: 0, disable_cooldowns: true, fallbacks: [{ effort: ['spare'] }] },
      },
    });
    const made = await app.call('POST', '/key/generate', {
      models: ['smart', 'sticky', 'turns', 'judged', 'judged-default', 'first', 'hybrid', 'capable', 'fuse', 'effort'],
    });
    ({ key } = (await made.json()) as { key: string });
  });

  afterAll(async () => {
    await app.stop();
    upstream.stop();
  });

  beforeEach(() => {
    upstream.seen.length = 0;
    upstream.failing.clear();
  });
}

/** Sends a chat with the key that may call the routers. */
export const chat = (model: string, text: string, more: object = {}, headers: Record<string, string> = {}) =>
  app.call(
    'POST',
    '/v1/chat/completions',
    { model, messages: [{ role: 'user', content: text }], ...more },
    {
      authorization: `Bearer ${key}`,
      ...headers,
    },
  );

/** Text of an answer; the whole body as JSON for an answer without a text. */
export const answerText = async (response: Response): Promise<string> => {
  const body = (await response.json()) as { choices?: { message: { content: string } }[]; error?: unknown };
  return body.choices?.[0]?.message.content ?? JSON.stringify(body);
};
/** Sends a chat. Returns the text of the answer, such as `from tier-s`. */
export const answerTextFor = async (model: string, text: string, more: object = {}): Promise<string> =>
  answerText(await chat(model, text, more));

interface Row {
  readonly model_group: string;
  readonly spend: number;
  readonly api_key: string;
  readonly metadata: { readonly routing_decision: Record<string, unknown> | null; readonly trace_id: string };
}

/** Spend rows of a call and of all other calls in its trace. Waits until the row of the call is stored. */
export async function rowsOf(callId: string | null): Promise<readonly Row[]> {
  const find = async (): Promise<readonly Row[]> => {
    const response = await app.call('GET', `/spend/logs?summarize=false`);
    const rows = (await response.json()) as (Row & { readonly litellm_call_id: string })[];
    const trace = rows.find((row) => row.litellm_call_id === callId)?.metadata.trace_id;
    return trace === undefined ? [] : rows.filter((row) => row.metadata.trace_id === trace);
  };
  await vi.waitFor(async () => expect(await find()).not.toEqual([]), POLLING);
  return find();
}

/** Headers with the key that may call the routers. */
export const keyHeaders = (): Record<string, string> => ({ authorization: `Bearer ${key}` });
