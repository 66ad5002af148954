import type { GuardrailMode } from './definition.ts';
import type { ActiveGuardrail, GuardrailReport, Verdict } from './guardrail.ts';

type GuardrailStatus = 'success' | 'guardrail_flagged' | 'guardrail_intervened' | 'guardrail_failed_to_respond';

/** One run of a guardrail, as it is recorded, without the matched texts. */
export interface GuardrailEntry {
  readonly guardrail_name: string;
  readonly guardrail_id: string;
  readonly guardrail_provider: string;
  readonly guardrail_mode: GuardrailMode;
  readonly guardrail_status: GuardrailStatus;
  readonly guardrail_response: GuardrailReport;
  readonly masked_entity_count: Readonly<Record<string, number>>;
  /** Unix time in seconds. */
  readonly start_time: number;
  readonly end_time: number;
  /** Seconds. */
  readonly duration: number;
}

/** Members whose values repeat a text of the call or a secret of the configuration. */
const REDACTED_MEMBERS = new Set(['match', 'regex', 'keyword', 'snippet']);
const REDACTED = '[REDACTED]';
/** Number of levels of a report that are recorded: a guardrail server may send any depth. */
const MAX_LEVELS = 16;

/** A report without the values that may repeat the checked text. */
function redacted(value: unknown, level = 0): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (level === MAX_LEVELS) return REDACTED;
  if (Array.isArray(value)) return value.map((one) => redacted(one, level + 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      REDACTED_MEMBERS.has(name) && inner !== null ? REDACTED : redacted(inner, level + 1),
    ]),
  );
}

const STATUSES: Readonly<Record<Verdict['kind'], GuardrailStatus>> = {
  passed: 'success',
  edited: 'guardrail_intervened',
  blocked: 'guardrail_intervened',
  flagged: 'guardrail_flagged',
};

const OUTCOMES: Readonly<Record<Verdict['kind'], string>> = {
  passed: 'allow',
  edited: 'mask',
  blocked: 'block',
  flagged: 'allow',
};

/** The entry of one run. `verdict` is null when the guardrail failed. */
export function guardrailEntryOf(
  { definition }: ActiveGuardrail,
  run: {
    readonly mode: GuardrailMode;
    readonly verdict: Verdict | null;
    /** Unix time in ms. */
    readonly startedAt: number;
    readonly durationMs: number;
  },
): GuardrailEntry {
  const { mode, verdict, startedAt, durationMs } = run;
  const report = verdict === null ? 'failed' : (verdict.report ?? OUTCOMES[verdict.kind]);
  return {
    guardrail_name: definition.name,
    guardrail_id: definition.id,
    guardrail_provider: definition.kind,
    guardrail_mode: mode,
    guardrail_status: verdict === null ? 'guardrail_failed_to_respond' : STATUSES[verdict.kind],
    guardrail_response: redacted(report) as GuardrailReport,
    masked_entity_count: verdict?.kind === 'edited' ? verdict.masked : {},
    start_time: startedAt / 1000,
    end_time: (startedAt + durationMs) / 1000,
    duration: durationMs / 1000,
  };
}
