import type { ModelRequest } from '../../../src/domain/chat/chat.ts';
import { guardrailsOf } from '../../../src/domain/guardrails/request-guardrails.ts';
import { GATEWAY_FIELDS } from '../../../src/domain/inference/gateway-fields.ts';
import { labelsOf } from './labels.ts';
import { assertSupported } from './refusals.ts';
import { retriesOf } from './retries.ts';
import { timeoutOf } from './timeout.ts';
import { credentialsOf } from './client-credentials.ts';
import { mockOf } from './mock-response.ts';
import type { HttpRequest } from '../http/route.ts';

type EndpointRequest = Pick<ModelRequest, 'endpoint' | 'stream' | 'body'>;
type Terms = Pick<
  ModelRequest,
  | 'timeoutSeconds'
  | 'retries'
  | 'labels'
  | 'omitContent'
  | 'credentials'
  | 'mockResponse'
  | 'guardrails'
  | 'reportsGuardrails'
>;

/** Members of the body and prefix of the headers that contain settings of the call. */
const MEMBERS = new Set<string>([...GATEWAY_FIELDS, 'metadata', 'user']);
const HEADER = 'x-litellm-';
export const NO_TERMS: Terms = Object.freeze({});

/** Whether a request has no settings. Most have none, and reading each setting costs a tenth of a call. */
function hasNoSettings({ headers }: Pick<HttpRequest, 'headers'>, body: EndpointRequest['body']): boolean {
  for (const member in body) if (MEMBERS.has(member)) return false;
  for (const name in headers) if (name.startsWith(HEADER)) return false;
  return true;
}

/** Settings of a call for the gateway: timeout, retries, labels, credentials. Throws InvalidInput. */
export function callTermsOf(request: Pick<HttpRequest, 'headers'>, call: EndpointRequest): Terms {
  if (hasNoSettings(request, call.body)) return NO_TERMS;
  assertSupported(call.body, call.endpoint);
  return {
    ...timeoutOf(request, call),
    ...retriesOf(request, call),
    ...labelsOf(request, call),
    ...credentialsOf(call),
    ...mockOf(call),
    ...guardrailsOf(call),
  };
}
