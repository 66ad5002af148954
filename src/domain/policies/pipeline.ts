import { InvalidInput } from '../errors.ts';
import { isJsonObject, type JsonObject } from '../json-object.ts';

/** What follows a step: the next step, or the end of the pipeline. */
const STEP_ACTIONS = ['next', 'allow', 'block', 'modify_response'] as const;
export type StepAction = (typeof STEP_ACTIONS)[number];

const PIPELINE_MODES = ['pre_call', 'post_call'] as const;
export type PipelineMode = (typeof PIPELINE_MODES)[number];

/** One guardrail of a pipeline, with the names of the configuration file. */
export interface PipelineStep {
  /** Name of the guardrail. */
  readonly guardrail: string;
  readonly on_pass: StepAction;
  /** Action after a block. */
  readonly on_fail: StepAction;
  /** Action when the guardrail does not answer. Null: that of `on_fail`. */
  readonly on_error: StepAction | null;
  /** Whether the next step, and the call, get the edited texts. */
  readonly pass_data: boolean;
  /** Text of the answer of `modify_response`. Null: the message of the block. */
  readonly modify_response_message: string | null;
}

/** Guardrails that run one after another, with conditions. */
export interface Pipeline {
  readonly mode: PipelineMode;
  readonly steps: readonly PipelineStep[];
}

const MAX_STEPS = 50;
const MAX_MESSAGE_CHARACTERS = 4_096;

const isIn = <Value extends string>(values: readonly Value[], value: unknown): value is Value =>
  (values as readonly unknown[]).includes(value);

const invalid = (path: readonly (string | number)[], message: string): InvalidInput =>
  new InvalidInput(`${path.join('.')} ${message}`);

type Place = readonly (string | number)[];

function actionIn(step: JsonObject, member: string, fallback: StepAction, at: Place): StepAction {
  const value = step[member] ?? fallback;
  if (!isIn(STEP_ACTIONS, value)) throw invalid([...at, member], `must be one of ${STEP_ACTIONS.join(', ')}`);
  return value;
}

function stepOf(value: unknown, at: Place): PipelineStep {
  if (!isJsonObject(value)) throw invalid(at, 'must be an object');
  const { guardrail, pass_data: passData = null, modify_response_message: message = null } = value;
  if (typeof guardrail !== 'string' || guardrail === '') throw invalid([...at, 'guardrail'], 'must be a name');
  if (passData !== null && typeof passData !== 'boolean') throw invalid([...at, 'pass_data'], 'must be a boolean');
  if (message !== null && (typeof message !== 'string' || message.length > MAX_MESSAGE_CHARACTERS))
    throw invalid([...at, 'modify_response_message'], `must be a text of at most ${MAX_MESSAGE_CHARACTERS} characters`);
  const onError = value['on_error'] ?? null;
  return {
    guardrail,
    on_pass: actionIn(value, 'on_pass', 'allow', at),
    on_fail: actionIn(value, 'on_fail', 'block', at),
    on_error: onError === null ? null : actionIn(value, 'on_error', 'block', at),
    pass_data: passData ?? false,
    modify_response_message: message,
  };
}

/** A pipeline from its JSON; null for null. Throws InvalidInput. */
export function pipelineOf(value: unknown): Pipeline | null {
  if (value === null || value === undefined) return null;
  if (!isJsonObject(value)) throw invalid(['pipeline'], 'must be an object');
  const { mode, steps } = value;
  if (!isIn(PIPELINE_MODES, mode)) throw invalid(['pipeline', 'mode'], `must be one of ${PIPELINE_MODES.join(', ')}`);
  if (!Array.isArray(steps) || steps.length === 0 || steps.length > MAX_STEPS)
    throw invalid(['pipeline', 'steps'], `must be a list of 1 to ${MAX_STEPS} steps`);
  return { mode, steps: steps.map((step: unknown, index) => stepOf(step, ['pipeline', 'steps', index])) };
}

export type StepOutcome = 'pass' | 'fail' | 'error';

/** Action after a step. */
export function actionAfter(step: PipelineStep, outcome: StepOutcome): StepAction {
  if (outcome === 'pass') return step.on_pass;
  return outcome === 'fail' ? step.on_fail : (step.on_error ?? step.on_fail);
}

/** A step that ran, as errors show it. */
export interface StepResult {
  readonly guardrail: string;
  readonly outcome: StepOutcome;
  readonly action: StepAction;
}
