import { DomainError, GuardrailMissing, Rejected, Unavailable } from '../../domain/errors.ts';
import type { ActiveGuardrail, GuardedText, Verdict } from '../../domain/guardrails/guardrail.ts';
import { actionAfter, type PipelineMode, type PipelineStep, type StepResult } from '../../domain/policies/pipeline.ts';
import { AnsweredByPipeline, PipelineRejected } from '../../domain/policies/pipeline-rejection.ts';
import type { MatchedPolicy } from '../../domain/policies/policy-book.ts';

/** The pipeline of a policy, with the guardrails of its steps. A step runs all guardrails with its name. */
export interface ActivePipeline {
  readonly policy: string;
  readonly mode: PipelineMode;
  readonly steps: readonly { readonly step: PipelineStep; readonly guardrails: readonly ActiveGuardrail[] }[];
}

/** A guardrail, or a pipeline in its place. */
export interface RunnableGuardrail extends ActiveGuardrail {
  /** Runs instead of `guardrail` when present. */
  readonly pipeline?: ActivePipeline;
}

/** `guardrail` of a pipeline. It is never called, because `pipeline` runs in its place. */
const UNUSED_GUARDRAIL = {
  check(): never {
    throw new Unavailable('A pipeline runs only as a part of a call.', null);
  },
};

/** Wraps the pipelines of policies as guardrails. Throws GuardrailMissing for a step whose guardrail does not exist. */
export const pipelinesOf = (
  matched: readonly MatchedPolicy[],
  all: readonly ActiveGuardrail[],
): readonly RunnableGuardrail[] =>
  matched.flatMap(({ name: policy, pipeline }) => {
    if (pipeline === null) return [];
    const steps = pipeline.steps.map((step) => {
      const guardrails = all.filter(({ definition }) => definition.name === step.guardrail);
      if (guardrails.length > 0) return { step, guardrails };
      throw new GuardrailMissing(
        `The guardrail '${step.guardrail}' of the policy '${policy}' is not configured, so the call is refused.`,
      );
    });
    return [
      {
        definition: {
          id: `policy:${policy}`,
          name: `pipeline:${policy}`,
          kind: 'policy_pipeline',
          modes: [pipeline.mode],
          defaultOn: false,
          params: {},
          info: null,
          isFromConfig: false,
          teamId: null,
          createdAt: null,
          updatedAt: null,
        },
        guardrail: UNUSED_GUARDRAIL,
        // The settings of the first guardrail apply. Each check of a stream runs all steps on the text so far.
        stream: steps[0]?.guardrails[0]?.stream ?? { samplingRate: 1, atEndOnly: true },
        inspectsEmbeddings: true,
        skips: [],
        pipeline: { policy, mode: pipeline.mode, steps },
      },
    ];
  });

/** Runs one guardrail. Throws Rejected, GuardrailFailed and Unavailable. */
type RunGuardrail = (guardrail: ActiveGuardrail, texts: readonly GuardedText[]) => Promise<Verdict>;

/** The texts of a call after the steps so far. */
interface CheckedTexts {
  readonly texts: readonly GuardedText[];
  /** Number of masked places, by the kind of the masked data. */
  readonly masked: Readonly<Record<string, number>>;
  readonly isEdited: boolean;
}

const withEdits = ({ texts, masked }: CheckedTexts, verdict: Extract<Verdict, { kind: 'edited' }>): CheckedTexts => ({
  texts: texts.map(({ role, text }, index) => ({ role, text: verdict.texts[index] ?? text })),
  masked: { ...masked, ...verdict.masked },
  isEdited: true,
});

interface StepEnd {
  readonly outcome: StepResult['outcome'];
  /** The edited texts. After a failure, the texts before the step. */
  readonly texts: CheckedTexts;
  /** Null for the outcome `pass`. */
  readonly failure: DomainError | null;
}

/**
 * Runs the guardrails of a step in order, each on the texts with the earlier edits. The first failure ends the step.
 * Throws errors that are no DomainError.
 */
async function runStep(
  guardrails: readonly ActiveGuardrail[],
  before: CheckedTexts,
  run: RunGuardrail,
): Promise<StepEnd> {
  let texts = before;
  for (const guardrail of guardrails) {
    try {
      // oxlint-disable-next-line no-await-in-loop -- one after another
      const verdict = await run(guardrail, texts.texts);
      if (verdict.kind === 'edited') texts = withEdits(texts, verdict);
    } catch (failure) {
      if (!(failure instanceof DomainError)) throw failure;
      return { outcome: failure instanceof Rejected ? 'fail' : 'error', texts: before, failure };
    }
  }
  return { outcome: 'pass', texts, failure: null };
}

/** The refusal by a guardrail of a step; a standard refusal when no guardrail of the step refused the texts. */
function refusalOf({ policy }: ActivePipeline, step: PipelineStep, failure: DomainError | null): Rejected {
  if (failure instanceof Rejected) return failure;
  return new Rejected(`Content blocked by guardrail pipeline '${policy}'`, step.guardrail);
}

/**
 * Runs the steps of a pipeline. The verdict has the edits of the steps with `pass_data`; in the mode `post_call`, of
 * all steps. Throws PipelineRejected for the action `block`, or the failure itself if a guardrail has failed. Throws
 * AnsweredByPipeline for `modify_response` in the mode `pre_call`.
 */
export async function runPipeline(
  pipeline: ActivePipeline,
  texts: readonly GuardedText[],
  run: RunGuardrail,
): Promise<Verdict> {
  const { policy, mode, steps } = pipeline;
  const results: StepResult[] = [];
  let current: CheckedTexts = { texts, masked: {}, isEdited: false };
  for (const { step, guardrails } of steps) {
    // oxlint-disable-next-line no-await-in-loop -- one after another
    const { outcome, texts: after, failure } = await runStep(guardrails, current, run);
    const action = actionAfter(step, outcome);
    results.push({ guardrail: step.guardrail, outcome, action });
    if (outcome === 'pass' && (step.pass_data || mode === 'post_call')) current = after;
    if (action === 'allow') break;
    if (action === 'next') continue;
    if (action === 'block' && failure !== null && !(failure instanceof Rejected)) throw failure;
    const refusal = refusalOf(pipeline, step, failure);
    const context = { policy, step_results: results };
    if (action === 'block') throw new PipelineRejected(refusal, context);
    const message = step.modify_response_message ?? refusal.message;
    if (mode === 'pre_call')
      throw new AnsweredByPipeline({ message, guardrail: refusal.guardrail, detail: refusal.detail }, context);
    // After the call, the message replaces the first text of the answer, and the other texts become empty.
    return { kind: 'edited', texts: texts.map((_text, index) => (index === 0 ? message : '')), masked: {} };
  }
  if (!current.isEdited) return { kind: 'passed' };
  return { kind: 'edited', texts: current.texts.map(({ text }) => text), masked: current.masked };
}
