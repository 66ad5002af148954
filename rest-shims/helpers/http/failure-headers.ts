import type { IncomingHttpHeaders } from 'node:http';
import type { Caller } from '../../../src/domain/caller.ts';
import { failedCallOf } from '../../../src/domain/chat/failed-call.ts';
import { usdText } from '../../../src/domain/money.ts';
import { VERSION } from '../../../src/domain/version.ts';
import type { Surface } from '../../errors.ts';
import { callContext } from '../model-call/model-call.ts';
import { headerText } from './header-lines.ts';
import { policyNames, policySources } from '../model-call/policy-headers.ts';
import { upstreamFailureHeaders } from '../model-call/upstream-failure-headers.ts';
import type { RouteFacts } from './route.ts';

/** Surfaces of calls of models and agents. */
const MODEL_CALL_SURFACES = new Set<Surface>(['proxy', 'anthropic', 'gemini', 'a2a']);

/**
 * Headers of a failure on a surface of model or agent calls. Empty for other surfaces, and for rows that require no
 * key. The call id is present even if no call was started, but not for an unauthenticated caller.
 */
export function failureHeaders(
  { surface, credential }: Pick<RouteFacts, 'surface' | 'credential'>,
  {
    error,
    headers,
    caller,
  }: { readonly error: unknown; readonly headers: IncomingHttpHeaders; readonly caller: Caller | null },
): Record<string, string> {
  if (!MODEL_CALL_SURFACES.has(surface) || credential !== 'required') return {};
  const head = upstreamFailureHeaders(error);
  const call = failedCallOf(error);
  if (call !== null || caller !== null)
    head['x-litellm-call-id'] = call?.callId ?? callContext({ headers }).callId ?? crypto.randomUUID();
  head['x-litellm-version'] = VERSION;
  if (call !== null) head['x-litellm-timeout'] = String(call.timeoutSeconds);
  if (call?.guardrails !== undefined) head['x-litellm-applied-guardrails'] = headerText(call.guardrails.join(','));
  if (call?.policies !== undefined) {
    head['x-litellm-applied-policies'] = headerText(policyNames(call.policies));
    head['x-litellm-policy-sources'] = headerText(policySources(call.policies));
  }
  const maxBudget = caller?.key?.maxBudget ?? null;
  if (maxBudget !== null) head['x-litellm-key-max-budget'] = usdText(maxBudget);
  const { rpmLimit, tpmLimit } = caller?.key?.settings ?? {};
  if (rpmLimit !== undefined) head['x-litellm-key-rpm-limit'] = String(rpmLimit);
  if (tpmLimit !== undefined) head['x-litellm-key-tpm-limit'] = String(tpmLimit);
  return head;
}
