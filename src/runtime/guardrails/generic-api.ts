import { z } from 'zod';
import type { Guardrail, GuardedText, Inspection, Verdict } from '../../domain/guardrails/guardrail.ts';
import { ruledAlias } from '../../domain/users/session.ts';
import type { GuardrailKind } from './active-guardrails.ts';
import { GuardrailFault, readParams, SERVICE_SETTINGS } from './params.ts';
import { baseOf, createService } from './service.ts';

/** Path of the generic guardrail format. A base address may already end with it. */
const PATH = '/beta/litellm_basic_guardrail_api';

const settings = z.looseObject({
  ...SERVICE_SETTINGS,
  headers: z.record(z.string(), z.string()).nullish(),
  additional_provider_specific_params: z.record(z.string(), z.unknown()).nullish(),
});

const answer = z.looseObject({
  action: z.enum(['NONE', 'BLOCKED', 'GUARDRAIL_INTERVENED']),
  blocked_reason: z.string().nullish(),
  texts: z.array(z.string()).nullish(),
});

/** Sends texts to a service of the generic guardrail format, which lets them pass, edits them or blocks the call. */
export const genericGuardrailApi =
  (http: Parameters<typeof createService>[0]): GuardrailKind =>
  (params, { name }): Guardrail => {
    const read = readParams(settings, params);
    if (!read.api_base) throw new GuardrailFault('api_base: it is needed');
    const base = baseOf(read.api_base);
    const url = base.endsWith(PATH) ? base : `${base}${PATH}`;
    const service = createService(http, {
      guardrail: name,
      timeoutSeconds: read.timeout ?? null,
      failsOpen: read.unreachable_fallback === 'fail_open',
    });
    const headers = { ...(read.api_key ? { 'x-api-key': read.api_key } : {}), ...read.headers };
    const additional = read.additional_provider_specific_params ?? {};

    return {
      check: (inspection) =>
        service.passIfUnreachable(inspection, async () => {
          const sent = bodyOf(inspection, additional);
          const parsed = answer.safeParse(await service.post(url, headers, sent, inspection.signal));
          if (!parsed.success) throw service.failed('its answer does not have the form of a guardrail answer');
          return verdictOf(parsed.data);
        }),
    };
  };

function verdictOf({ action, blocked_reason: reason, texts }: z.output<typeof answer>): Verdict {
  if (action === 'BLOCKED') return { kind: 'blocked', detail: reason || 'Content blocked by guardrail' };
  if (action === 'NONE' || texts === null || texts === undefined) return { kind: 'passed' };
  return { kind: 'edited', texts, masked: {} };
}

const bodyOf = (inspection: Inspection, additional: object): object => {
  const { phase, texts, model, callId, traceId, caller } = inspection;
  return {
    input_type: phase,
    texts: texts.map(({ text }) => text),
    images: null,
    tools: null,
    tool_calls: null,
    structured_messages: phase === 'request' ? texts.map(messageOf) : null,
    model,
    litellm_call_id: callId,
    litellm_trace_id: traceId,
    request_data: {
      user_api_key_hash: caller.keyHash,
      user_api_key_alias: caller.key === null ? null : ruledAlias(caller.key),
      user_api_key_user_id: caller.userId,
      user_api_key_team_id: caller.teamId,
    },
    request_headers: {},
    additional_provider_specific_params: additional,
  };
};

const messageOf = ({ text, role }: GuardedText): object => ({ role: role ?? 'user', content: text });
