import { DomainError } from '../errors.ts';
import type { ActiveGuardrail, GuardedText, Inspection } from '../guardrails/guardrail.ts';
import { checkedVerdict, inspectedBy, withUncheckedTexts } from '../guardrails/inspected-texts.ts';
import { rejection } from '../guardrails/rejection.ts';
import { actionAfter, type Pipeline, type PipelineStep, type StepAction, type StepOutcome } from './pipeline.ts';

/** Result of one step of a trial. */
interface TriedStep {
  readonly guardrail: string;
  readonly outcome: StepOutcome;
  readonly action: StepAction;
  /** The texts as the step edited them; null without an edit. */
  readonly edited: readonly string[] | null;
  /** Why the step did not pass; null when it passed. */
  readonly error: string | null;
  readonly durationMs: number;
}

/** Result of a trial of a pipeline. */
export interface PipelineTrial {
  /** How a call would go on. */
  readonly end: Exclude<StepAction, 'next'>;
  readonly steps: readonly TriedStep[];
  /** The texts that the call would have; null when they are unchanged. */
  readonly edited: readonly string[] | null;
  /** Why a call would be blocked; null for another end. */
  readonly error: string | null;
  /** Answer in place of a call; null for another end than `modify_response`. */
  readonly answer: string | null;
}

type TrialContext = Pick<Inspection, 'callId' | 'traceId' | 'caller' | 'signal'> & {
  /** Monotonic time in ms. */
  readonly nowMs: () => number;
};

interface StepEnd extends Pick<TriedStep, 'outcome' | 'error'> {
  readonly texts: readonly GuardedText[];
}

/** Runs the guardrails of a step in order, each on the texts that the one before edited. */
export async function runStep(
  guardrails: readonly ActiveGuardrail[],
  texts: readonly GuardedText[],
  { phase, callId, traceId, caller, signal }: Omit<TrialContext, 'nowMs'> & Pick<Inspection, 'phase'>,
): Promise<StepEnd> {
  const context = { callId, traceId, caller, signal };
  let current = texts;
  try {
    for (const one of guardrails) {
      const inspected = inspectedBy(one, current);
      if (inspected.length === 0) continue;
      // oxlint-disable-next-line no-await-in-loop -- one after another
      const found = await one.guardrail.check({ ...context, phase, texts: inspected, model: '' });
      const verdict = withUncheckedTexts(checkedVerdict(found, inspected), current, inspected);
      if (verdict.kind === 'blocked') throw rejection(one, 'pre_call', verdict.detail);
      if (verdict.kind === 'edited')
        current = current.map(({ role, text }, index) => ({ role, text: verdict.texts[index] ?? text }));
    }
    return { outcome: 'pass', error: null, texts: current };
  } catch (failure) {
    if (!(failure instanceof DomainError)) throw failure;
    return { outcome: failure.code === 'REJECTED' ? 'fail' : 'error', error: failure.message, texts };
  }
}

export const textsOf = (texts: readonly GuardedText[]): readonly string[] => texts.map(({ text }) => text);

/** The texts after an edit; null when they are the same. */
function editOf(before: readonly GuardedText[], after: readonly GuardedText[]): readonly string[] | null {
  return before.every(({ text }, index) => text === after[index]?.text) ? null : textsOf(after);
}

function endOf(
  step: PipelineStep,
  action: StepAction,
  error: string | null,
): Pick<PipelineTrial, 'end' | 'error' | 'answer'> {
  const reason = error ?? `The step ${step.guardrail} ends the pipeline.`;
  if (action === 'block') return { end: 'block', error: reason, answer: null };
  if (action !== 'modify_response') return { end: 'allow', error: null, answer: null };
  return { end: 'modify_response', error: null, answer: step.modify_response_message ?? reason };
}

/**
 * Runs a pipeline on texts without a call. A step whose guardrail does not exist has the outcome `error`. `all` are the
 * guardrails in force.
 */
export async function tryPipeline(
  all: readonly ActiveGuardrail[],
  { pipeline, texts }: { readonly pipeline: Pipeline; readonly texts: readonly GuardedText[] },
  context: TrialContext,
): Promise<PipelineTrial> {
  const phase = pipeline.mode === 'post_call' ? 'response' : 'request';
  const steps: TriedStep[] = [];
  let current = texts;
  for (const step of pipeline.steps) {
    const startMs = context.nowMs();
    const guardrails = all.filter(({ definition }) => definition.name === step.guardrail);
    const missing = { outcome: 'error', error: `Guardrail '${step.guardrail}' not found`, texts: current } as const;
    const ended: StepEnd =
      // oxlint-disable-next-line no-await-in-loop -- one after another
      guardrails.length === 0 ? missing : await runStep(guardrails, current, { ...context, phase });
    const { outcome, error } = ended;
    const action = actionAfter(step, outcome);
    const edited = editOf(current, ended.texts);
    steps.push({ guardrail: step.guardrail, outcome, action, edited, error, durationMs: context.nowMs() - startMs });
    if (step.pass_data || pipeline.mode === 'post_call') current = ended.texts;
    if (action !== 'next') return { ...endOf(step, action, error), steps, edited: editOf(texts, current) };
  }
  return { end: 'allow', error: null, answer: null, steps, edited: editOf(texts, current) };
}
