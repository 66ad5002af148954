import type { ModelRequest } from '../../../src/domain/chat/chat.ts';
import { frozenMemo } from '../../../src/domain/frozen-memo.ts';
import { guardrailsOf } from '../../../src/domain/guardrails/request-guardrails.ts';
import { GATEWAY_FIELDS } from '../../../src/domain/inference/gateway-fields.ts';
import { cacheControlsOf } from '../../../src/domain/response-cache/cache-controls.ts';
import { requestedPoliciesOf } from '../../../src/domain/policies/request-policies.ts';
import { promptOf } from '../../../src/domain/prompts/request-prompt.ts';
import { labelsOf } from './labels.ts';
import { assertSupported } from './refusals.ts';
import { retriesOf } from './retries.ts';
import { timeoutOf } from './timeout.ts';
import { credentialsOf } from './client-credentials.ts';
import { mockResponseOf } from './mock-response.ts';
import type { HttpRequest } from '../http/route.ts';

type EndpointRequest = Pick<ModelRequest, 'endpoint' | 'stream' | 'body'>;
type CallSettings = Pick<
  ModelRequest,
  | 'timeoutSeconds'
  | 'retries'
  | 'labels'
  | 'omitContent'
  | 'credentials'
  | 'mockResponse'
  | 'guardrails'
  | 'reportsGuardrails'
  | 'cache'
  | 'policies'
  | 'prompt'
>;

/** Body members that may contain settings of a call. */
const MEMBERS = new Set<string>([...GATEWAY_FIELDS, 'metadata', 'user']);
/** Prefix of headers that may contain settings of a call. */
const HEADER_PREFIX = 'x-litellm-';
/** Stands for a request without settings; compared by identity. */
export const NO_SETTINGS: CallSettings = Object.freeze({});

const hasSettingHeader = frozenMemo((headers: HttpRequest['headers']): boolean =>
  Object.keys(headers).some((name) => name.startsWith(HEADER_PREFIX)),
);

/** Whether a request has no settings. Most requests have none, and reading all settings costs a tenth of a call. */
function hasNoSettings({ headers }: Pick<HttpRequest, 'headers'>, body: EndpointRequest['body']): boolean {
  for (const member in body) if (MEMBERS.has(member)) return false;
  return !hasSettingHeader(headers);
}

/**
 * Settings of a call for the gateway: timeout, retries, labels, credentials, mock response, guardrails, policies,
 * prompt and cache. Throws InvalidInput.
 */
export function callSettings(request: Pick<HttpRequest, 'headers'>, call: EndpointRequest): CallSettings {
  if (hasNoSettings(request, call.body)) return NO_SETTINGS;
  assertSupported(call.body, call.endpoint);
  return {
    ...timeoutOf(request, call),
    ...retriesOf(request, call),
    ...labelsOf(request, call),
    ...credentialsOf(call),
    ...mockResponseOf(call),
    ...guardrailsOf(call),
    ...cacheControlsOf(call),
    ...requestedPoliciesOf(call),
    ...promptOf(call),
  };
}
