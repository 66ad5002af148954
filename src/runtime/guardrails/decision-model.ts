import { z } from 'zod';
import { type AskDecisions, decisionGuardrail } from '../../domain/guardrails/kinds/decision-model.ts';
import type { GuardrailKind } from './active-guardrails.ts';
import { GuardrailFault, readParams } from './params.ts';

const check = z.object({
  name: z.string().trim().min(1),
  instructions: z.string().trim().min(1),
  threshold: z.number().min(0).max(1).default(0.7),
  action: z.enum(['block', 'log']).default('block'),
});

const settings = z.looseObject({
  decision_model: z.string().min(1),
  checks: z.array(check).min(1).max(128),
  max_input_chars: z.int().min(100).max(1_000_000).nullish(),
  max_concurrent_decision_calls: z.int().min(1).max(128).nullish(),
  unreachable_fallback: z.enum(['fail_closed', 'fail_open']).nullish(),
});

/** A guardrail whose checks are questions to a decision model of this installation. */
export const decisionModel =
  (ask: AskDecisions): GuardrailKind =>
  (params, { name }) => {
    const read = readParams(settings, params);
    const names = read.checks.map((one) => one.name);
    if (new Set(names).size < names.length) throw new GuardrailFault('checks: their names must be distinct');
    return decisionGuardrail(
      name,
      {
        model: read.decision_model,
        checks: read.checks,
        maxInputChars: read.max_input_chars ?? 24_000,
        maxConcurrentCalls: read.max_concurrent_decision_calls ?? 8,
        failsOpen: read.unreachable_fallback === 'fail_open',
      },
      ask,
    );
  };
