import type { Caller } from '../../src/domain/caller.ts';
import type { Outcome, ModelRequest } from '../../src/domain/chat/chat.ts';
import type { Deployment } from '../../src/domain/chat/provider.ts';
import { CHAT_COMPLETIONS } from '../../src/domain/inference/endpoint.ts';
import { ZERO_USD } from '../../src/domain/money.ts';
import type { VirtualKey } from '../../src/domain/keys/virtual-key.ts';
import { Secret } from '../../src/domain/secret.ts';

/** Chat call in the form that `rest-shims/` passes to the gateway. */
export function aModelRequest(
  body: Readonly<Record<string, unknown>> = { model: 'm', messages: [{ role: 'user', content: 'Hello' }] },
  overrides: Partial<ModelRequest> = {},
): ModelRequest {
  const options = body['stream_options'];
  return {
    endpoint: CHAT_COMPLETIONS,
    model: String(body['model']),
    stream: body['stream'] === true,
    includeUsage:
      typeof options === 'object' && options !== null && 'include_usage' in options && options.include_usage === true,
    bytes: Buffer.from(JSON.stringify(body)),
    body,
    callId: null,
    parent: null,
    ...overrides,
  };
}

/** Deployment of an OpenAI-compatible upstream. */
export function aDeployment(overrides: Partial<Deployment> = {}): Deployment {
  return {
    id: 'deployment-1',
    modelGroup: 'm',
    provider: 'openai',
    upstreamModel: 'up-1',
    apiBase: null,
    apiKey: new Secret('sk-upstream-credential'),
    options: {},
    secrets: {},
    dropParams: false,
    timeoutSeconds: 10,
    priceOverrides: {},
    baseModel: null,
    ...overrides,
  };
}

/** Ordinary virtual key without limits or model restrictions. */
export function aKey(overrides: Partial<VirtualKey> = {}): VirtualKey {
  return {
    hash: 'a'.repeat(64),
    secretHash: overrides.hash ?? 'a'.repeat(64),
    previousSecret: null,
    name: 'sk-...1234',
    alias: null,
    role: 'internal_user',
    teamId: null,
    userId: null,
    models: [],
    maxBudget: null,
    budgetDuration: null,
    budgetResetAt: null,
    spentBefore: ZERO_USD,
    settings: {},
    metadata: {},
    blocked: false,
    expiresAt: null,
    rotations: 0,
    rotatedAt: null,
    createdAt: new Date('2026-01-01T00:00:00Z'),
    createdBy: 'admin',
    updatedAt: new Date('2026-01-01T00:00:00Z'),
    updatedBy: 'admin',
    deletedAt: null,
    deletedBy: null,
    ...overrides,
  };
}

/** Caller with a key. Null gives an administrator without a virtual key. */
export function aCaller(key: VirtualKey | null = aKey()): Caller {
  return {
    role: key?.role ?? 'proxy_admin',
    keyHash: key?.hash ?? 'master',
    key,
    teamId: key?.teamId ?? null,
    userId: key?.userId ?? null,
  };
}

/** Outcome of a call without any response. */
export const NO_OUTCOME: Outcome = {
  responseId: null,
  responseModel: null,
  finishReason: null,
  usage: null,
  failure: null,
  text: null,
};
