import type { ActiveGuardrail, Inspection } from '../guardrails/guardrail.ts';
import { runStep, textsOf } from './pipeline-trial.ts';

/** Result of a trial of guardrails on one input. */
export interface GuardrailTrial {
  /** The texts after the edits of the guardrails that passed. */
  readonly texts: readonly string[];
  /** Guardrails that did not pass. */
  readonly errors: readonly { readonly guardrail: string; readonly message: string }[];
}

/**
 * Runs guardrails by name on the texts of one input, each on the texts that the one before edited. A guardrail that
 * blocks, fails or does not exist is an error of the result, and the next one runs.
 */
export async function tryGuardrails(
  all: readonly ActiveGuardrail[],
  { names, texts }: { readonly names: readonly string[]; readonly texts: readonly string[] },
  context: Pick<Inspection, 'callId' | 'traceId' | 'caller' | 'signal' | 'phase'>,
): Promise<GuardrailTrial> {
  const errors: { guardrail: string; message: string }[] = [];
  const role = context.phase === 'request' ? 'user' : 'assistant';
  let current = texts.map((text) => ({ role, text }) as const);
  for (const guardrail of names) {
    const guardrails = all.filter(({ definition }) => definition.name === guardrail);
    if (guardrails.length === 0) {
      errors.push({ guardrail, message: `Guardrail '${guardrail.slice(0, 256)}' not found` });
      continue;
    }
    // oxlint-disable-next-line no-await-in-loop -- one after another
    const { error, texts: after } = await runStep(guardrails, current, context);
    if (error !== null) errors.push({ guardrail, message: error });
    current = after.map(({ text }) => ({ role, text }));
  }
  return { texts: textsOf(current), errors };
}
