import { InvalidInput } from '../errors.ts';
import { isJsonObject, type JsonObject } from '../json-object.ts';

/** `next` runs the next step. The other actions end the pipeline. */
const STEP_ACTIONS = ['next', 'allow', 'block', 'modify_response'] as const;
export type StepAction = (typeof STEP_ACTIONS)[number];

const PIPELINE_MODES = ['pre_call', 'post_call'] as const;
export type PipelineMode = (typeof PIPELINE_MODES)[number];

/** One step of a pipeline. Its members have the names of the configuration file. */
export interface PipelineStep {
  /** Name of the guardrail. */
  readonly guardrail: string;
  /** Action when the guardrail does not block. */
  readonly on_pass: StepAction;
  /** Action when the guardrail blocks. */
  readonly on_fail: StepAction;
  /** Action when the guardrail fails, for example by a timeout. Null: the action of `on_fail`. */
  readonly on_error: StepAction | null;
  /** Whether later steps and the call get the texts as this step edited them. `post_call` behaves as with true. */
  readonly pass_data: boolean;
  /** Answer by the action `modify_response`. Null: the message of the block. */
  readonly modify_response_message: string | null;
}

/** Guardrails that run one after another. The result of each step decides what follows. */
export interface Pipeline {
  readonly mode: PipelineMode;
  readonly steps: readonly PipelineStep[];
}

const MAX_STEPS = 50;
const MAX_MESSAGE_CHARACTERS = 4_096;

const isOneOf = <Value extends string>(values: readonly Value[], value: unknown): value is Value =>
  values.some((known) => known === value);

const invalid = (path: readonly (string | number)[], message: string): InvalidInput =>
  new InvalidInput(`${path.join('.')} ${message}`);

type Place = readonly (string | number)[];

function actionIn(step: JsonObject, member: string, defaultAction: StepAction, at: Place): StepAction {
  const value = step[member] ?? defaultAction;
  if (!isOneOf(STEP_ACTIONS, value)) throw invalid([...at, member], `must be one of ${STEP_ACTIONS.join(', ')}`);
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

/** Reads a pipeline from JSON; null for an absent one. Throws InvalidInput. */
export function pipelineOf(value: unknown): Pipeline | null {
  if (value === null || value === undefined) return null;
  if (!isJsonObject(value)) throw invalid(['pipeline'], 'must be an object');
  const { mode, steps } = value;
  if (!isOneOf(PIPELINE_MODES, mode))
    throw invalid(['pipeline', 'mode'], `must be one of ${PIPELINE_MODES.join(', ')}`);
  if (!Array.isArray(steps) || steps.length === 0 || steps.length > MAX_STEPS)
    throw invalid(['pipeline', 'steps'], `must be a list of 1 to ${MAX_STEPS} steps`);
  return { mode, steps: steps.map((step: unknown, index) => stepOf(step, ['pipeline', 'steps', index])) };
}

/** `fail`: the guardrail blocks. `error`: the guardrail fails, for example by a timeout. */
export type StepOutcome = 'pass' | 'fail' | 'error';

export function actionAfter(step: PipelineStep, outcome: StepOutcome): StepAction {
  if (outcome === 'pass') return step.on_pass;
  return outcome === 'fail' ? step.on_fail : (step.on_error ?? step.on_fail);
}

/** Result of a step, as error answers show it. */
export interface StepResult {
  readonly guardrail: string;
  readonly outcome: StepOutcome;
  readonly action: StepAction;
}
