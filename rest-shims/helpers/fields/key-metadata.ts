import type { METADATA_MEMBERS } from '../../../src/domain/keys/key-settings.ts';
import { utcTimeFrom } from '../../../src/domain/utc-time.ts';
import {
  type FieldReader,
  flag,
  optional,
  listOf,
  number,
  oneOf,
  recordOf,
  texts,
  wholeNumber,
} from '../http/body-fields.ts';

/** Wraps a reader. Null and an absent member are read as null, not as an empty value. */
export const orNull =
  <Value>(read: FieldReader<Value>): FieldReader<Value | null> =>
  (input) =>
    input === null || input === undefined ? { value: null } : read(input);

/** A time as ISO 8601 text; null when absent. A time without an offset is in UTC. Returns the text in UTC. */
export const moment: FieldReader<string | null> = (input) => {
  if (input === null || input === undefined) return { value: null };
  const time = typeof input === 'string' ? utcTimeFrom(input) : null;
  if (time !== null) return { value: time.toISOString() };
  const isShort = typeof input === 'string' && input.length < 'YYYY-MM-DD'.length;
  return {
    rule: 'datetime_from_date_parsing',
    message: `Input should be a valid datetime or date${isShort ? ', input is too short' : ''}`,
  };
};

/** Readers of the members of a key that are stored in its metadata. */
export const METADATA: Readonly<Record<(typeof METADATA_MEMBERS)[number], FieldReader<unknown>>> = {
  model_rpm_limit: recordOf(wholeNumber),
  model_tpm_limit: recordOf(wholeNumber),
  mcp_rpm_limit: recordOf(wholeNumber),
  tag_rpm_limit: recordOf(wholeNumber),
  rpm_limit_type: oneOf(['guaranteed_throughput', 'best_effort_throughput', 'dynamic']),
  tpm_limit_type: oneOf(['guaranteed_throughput', 'best_effort_throughput', 'dynamic']),
  tags: orNull(texts),
  enforced_params: orNull(texts),
  default_estimated_output_tokens: wholeNumber,
  default_estimated_output_tokens_per_model: recordOf(wholeNumber),
  allowed_passthrough_routes: orNull(texts),
  denied_passthrough_routes: orNull(texts),
  allowed_vector_store_indexes: listOf<unknown>((input) => ({ value: input })),
  throttle_on_budget_exceeded: flag,
  guardrails: orNull(texts),
  policies: orNull(texts),
  prompts: orNull(texts),
  disable_global_guardrails: flag,
  opted_out_global_guardrails: orNull(texts),
  temp_budget_increase: number,
  temp_budget_expiry: moment,
};

/** Reader of the indexes of vector stores that the keys of a team may use. */
export const INDEX_READER = { allowed_vector_store_indexes: optional(METADATA.allowed_vector_store_indexes) };

/** Readers of the members about guardrails and policies of teams and projects. */
export const GUARDRAIL_READERS = {
  guardrails: optional(METADATA.guardrails),
  policies: optional(METADATA.policies),
  disable_global_guardrails: optional(METADATA.disable_global_guardrails),
  opted_out_global_guardrails: optional(METADATA.opted_out_global_guardrails),
};
