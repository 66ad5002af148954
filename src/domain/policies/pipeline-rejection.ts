import { Rejected } from '../errors.ts';
import type { StepResult } from './pipeline.ts';

/** The steps of a pipeline that ran, as errors show them. */
export interface PipelineContext {
  readonly policy: string;
  readonly step_results: readonly StepResult[];
}

/** Refusal of a call by the pipeline of a policy. */
export class PipelineRejected extends Rejected {
  readonly context: PipelineContext;
  constructor(cause: Pick<Rejected, 'message' | 'guardrail' | 'detail'>, context: PipelineContext) {
    super(cause.message, cause.guardrail, cause.detail, { cause });
    this.name = 'PipelineRejected';
    this.context = context;
  }
}

/**
 * Refusal by the action `modify_response` before the call. Its message replaces the answer of the model. At an
 * endpoint whose answers have no text, the call is refused with the message.
 */
export class AnsweredByPipeline extends PipelineRejected {
  constructor(cause: Pick<Rejected, 'message' | 'guardrail' | 'detail'>, context: PipelineContext) {
    super(cause, context);
    this.name = 'AnsweredByPipeline';
  }
}
