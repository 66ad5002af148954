import type { Caller } from '../../domain/caller.ts';
import type { Deployment } from '../../domain/chat/provider.ts';
import { namesGuardrails } from '../../domain/guardrails/selection.ts';
import type { PassBody, PassThrough } from '../../domain/upstream-objects/pass-through.ts';
import { assertNoRepeatedMember } from './guarded-call.ts';
import type { CallGuard, Guards, RunningCall } from './guarding.ts';

/** The guardrails of a call about an upstream object with a prompt, such as the creation of a video; null for none. */
export function promptGuardOf(
  guards: Guards | null,
  caller: Caller,
  {
    prompt,
    model,
    labels,
    guardrails = [],
  }: Pick<PassThrough, 'prompt' | 'model' | 'labels'> & Pick<Deployment, 'guardrails'>,
): CallGuard | null {
  if (guards === null || prompt === undefined) return null;
  const isNamedByKey = caller.key !== null && namesGuardrails(caller.key);
  if (guards.isIdle() && guardrails.length === 0 && !isNamedByKey) return null;
  const guard = guards.open({ caller, model, labels, configured: guardrails });
  return guard.isIdle() ? null : guard;
}

/**
 * Runs the guardrails on the prompt of a call about an upstream object. Returns the request with the edited prompt.
 * Throws Rejected, GuardrailFailed and Unavailable. Throws InvalidInput for a JSON body with a repeated member, because
 * the upstream could read the unchecked one.
 */
export async function checkPrompt(guard: CallGuard, request: PassThrough, call: RunningCall): Promise<PassThrough> {
  const { prompt, body } = request;
  if (prompt === undefined || !guard.checksRequest()) return request;
  if (body.kind === 'json') assertNoRepeatedMember(guard, { bytes: body.bytes, fromLevel: 1 });
  const { texts } = await guard.check('pre_call', [{ text: prompt, role: null }], call);
  const [checked = prompt] = texts;
  await guard.checkAtOnce('during_call', [{ text: checked, role: null }], call);
  return { ...request, body: withPrompt(body, checked) };
}

/** The body with `prompt` in place of its prompt. */
function withPrompt(body: PassBody, prompt: string): PassBody {
  if (body.kind === 'json') return { ...body, set: { ...body.set, prompt: JSON.stringify(prompt) } };
  return body.kind === 'form' ? { ...body, set: { ...body.set, prompt } } : body;
}
