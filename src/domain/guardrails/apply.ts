import type { Caller } from '../caller.ts';
import { NotFound } from '../errors.ts';
import { type ActiveGuardrail, isVisibleTo } from './guardrail.ts';
import { rejection } from './rejection.ts';

/** A text that a caller sends to a guardrail without a model call. */
export interface AppliedGuardrail {
  /** Name of the guardrail. */
  readonly name: string;
  readonly text: string;
  /** Language of the text, for guardrails that need one; null for the configured one. */
  readonly language: string | null;
  /** Kinds of entities to find, for guardrails that find entities; null for the configured kinds. */
  readonly entities: readonly string[] | null;
}

/** The text after all visible guardrails with the name. Throws NotFound, Rejected, GuardrailFailed and Unavailable. */
export async function applyGuardrails(
  all: readonly ActiveGuardrail[],
  { name, text, language, entities }: AppliedGuardrail,
  run: { readonly caller: Caller; readonly callId: string; readonly traceId: string; readonly signal: AbortSignal },
): Promise<string> {
  const selected = all.filter((one) => one.definition.name === name && isVisibleTo(one, run.caller));
  if (selected.length === 0)
    throw new NotFound(
      'guardrail',
      name,
      `Guardrail '${name.slice(0, 256)}' not found. Please ensure the guardrail is configured in your LiteLLM proxy.`,
    );
  let current = text;
  for (const one of selected) {
    const texts = [{ text: current, role: 'user' as const }];
    const verdict = await one.guardrail.check({ phase: 'request', texts, model: '', language, entities, ...run });
    // A rejection names the mode in which the guardrail ran. Without a model call, it names the first configured mode.
    const mode = one.definition.modes[0] ?? 'pre_call';
    if (verdict.kind === 'blocked') throw rejection(one, mode, verdict.detail);
    if (verdict.kind === 'edited') current = verdict.texts[0] ?? current;
  }
  return current;
}
