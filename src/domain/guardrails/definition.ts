import type { JsonObject } from '../json-object.ts';

/** When a guardrail runs: before the call, during the call, on the answer, or on the record of the call. */
export const GUARDRAIL_MODES = ['pre_call', 'during_call', 'post_call', 'logging_only'] as const;
export type GuardrailMode = (typeof GUARDRAIL_MODES)[number];

/** A configured check of the texts of calls and answers. */
export interface GuardrailDefinition {
  readonly id: string;
  /** Name by which keys, teams and requests select it. Guardrails may share a name. */
  readonly name: string;
  /** Type of the check, such as `litellm_content_filter`. */
  readonly kind: string;
  readonly modes: readonly GuardrailMode[];
  /** Whether it runs on every call, also on calls that do not select it. */
  readonly defaultOn: boolean;
  /**
   * All of `litellm_params`, secrets included. See `Guardrails` for where references such as `os.environ/NAME` are
   * resolved.
   */
  readonly params: JsonObject;
  /** Descriptive data, as configured. */
  readonly info: JsonObject | null;
  /** Whether the configuration file has it. Such a guardrail cannot be changed at run time. */
  readonly isFromConfig: boolean;
  /** Team that owns it; null when every team may use it. */
  readonly teamId: string | null;
  /** Null for a guardrail of the configuration file. */
  readonly createdAt: Date | null;
  readonly updatedAt: Date | null;
}

/** The guardrails in force. */
export interface GuardrailDirectory {
  /** In the order in which they run. The same array as before until a guardrail changes. */
  definitions: () => readonly GuardrailDefinition[];
}
