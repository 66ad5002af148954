import type { MadeDecision } from '../../domain/decisions/decision.ts';
import type { GuardedText } from '../../domain/guardrails/guardrail.ts';
import { decisionTexts } from '../../domain/guardrails/texts/decision-texts.ts';
import { createWalk, type Members, withTexts } from '../../domain/guardrails/texts/walk.ts';
import { maskedTexts } from '../accounting/recorded-texts.ts';
import type { DecisionRecord } from '../gateway.ts';
import type { CallGuard, RunningCall } from './guarding.ts';

/** Members of inputs and questions that are not texts, and those that `decisionTexts` reads. */
const SKIPS: ReadonlySet<string> = new Set(['kind', 'type', 'role', 'name', 'value', 'label']);

interface Requested extends Members {
  readonly input: unknown;
  readonly questions: MadeDecision['questions'];
}

/**
 * Masks a decision before it is stored, by guardrails of the mode `logging_only`. Null where one blocks or fails: a
 * decision that was not checked is not stored.
 */
export async function maskedDecision(
  guard: CallGuard,
  { callId, traceId }: Pick<RunningCall, 'callId' | 'traceId'>,
  { model, record }: { readonly model: string; readonly record: DecisionRecord },
): Promise<DecisionRecord | null> {
  const guardrails = guard.of('logging_only');
  if (guardrails.length === 0) return record;
  const answers = decisionTexts(record.decision);
  const requested: Requested = { input: record.input, questions: record.decision.questions };
  const walk = createWalk();
  walk.everything(requested.input, ['input'], 'user', SKIPS);
  walk.everything(requested.questions, ['questions'], 'user', SKIPS);
  const all: readonly GuardedText[] = [...answers.places, ...walk.places];
  const context = { guardrails, caller: guard.caller, callId, traceId };
  try {
    const texts = await maskedTexts(context, model, all);
    if (texts === null) return null;
    const count = answers.places.length;
    const decision = answers.withTexts(texts.slice(0, count));
    const masked: Requested = { ...requested, questions: decision.questions };
    const edited: Requested = { ...masked, ...withTexts(masked, walk.places, texts.slice(count)) };
    return { input: edited.input, decision: { ...decision, questions: edited.questions } };
  } catch {
    return null;
  }
}
