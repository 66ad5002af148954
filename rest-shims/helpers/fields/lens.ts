import type { PreviewRequest } from '../../../resolvers/lens-activity.ts';
import { EVIDENCE_ROLES, FINDING_KINDS, FINDING_STATUSES, PRIORITIES } from '../../../src/domain/lens/finding.ts';
import { PHASES, PURPOSES } from '../../../src/domain/lens/lens.ts';
import { MAX_WORKER_NAME } from '../../../src/domain/lens/text-limits.ts';
import { camelCased } from '../../../src/domain/key-case.ts';
import { type RunRequest, assertRunRequest } from '../../../src/domain/lens/schedule.ts';
import { type LensSettings, type Selection, assertLensInput } from '../../../src/domain/lens/settings.ts';
import type { AnalysisCall, RunProgress, RunResult } from '../../../src/domain/lens/worker.ts';
import {
  bodyOf,
  choiceOf,
  flag,
  instant,
  listOf,
  modelOf,
  numberOf,
  optional,
  orNull,
  required,
  textOf,
  wholeOf,
} from '../http/strict-fields.ts';

const anyText = textOf();
const nonEmptyText = textOf({ min: 1 });
const count = wholeOf({ min: 0 });

/** Members that select executions. An execution is one agent run, the trace of one owner. */
const SELECTION = {
  source: optional(choiceOf('traces'), 'traces'),
  service: optional(anyText, ''),
  agent_name: optional(anyText, ''),
  filters: optional(listOf(modelOf({ key: required(nonEmptyText), value: required(nonEmptyText) })), []),
  sample_size: optional(orNull(wholeOf({ min: 1 })), null),
  sample_percent: optional(numberOf({ above: 0, max: 100 }), 100),
  team_id: optional(anyText, ''),
  execution_ids: optional(listOf(anyText), []),
};

const settings = modelOf({
  ...SELECTION,
  name: required(nonEmptyText),
  context: optional(anyText, ''),
  lookback_hours: optional(wholeOf({ min: 1 }), 24),
  checks: optional(
    listOf(
      modelOf({
        id: required(nonEmptyText),
        instruction: required(textOf({ min: 3 })),
        enabled: optional(flag, true),
      }),
    ),
    [],
  ),
  model: required(nonEmptyText),
  enabled: optional(flag, true),
  interval_minutes: optional(wholeOf({ min: 1 }), 15),
  concurrency: optional(wholeOf({ min: 1 }), 8),
  monthly_budget: optional(numberOf({ above: 0 }), 100),
});

const readSettings = bodyOf(settings);

// Members have the names of the domain in snake case, and the readers check their types: the casts below are safe.
/** Settings of a lens. Throws InvalidInput. */
export const lensSettingsFrom = (body: Uint8Array): LensSettings =>
  assertLensInput(camelCased(readSettings(body)) as LensSettings);

const readRun = bodyOf(
  modelOf({
    settings: optional(orNull(settings), null),
    lookback_hours: optional(orNull(wholeOf({ min: 1 })), null),
    start: optional(orNull(instant), null),
    end: optional(orNull(instant), null),
    agent_name: optional(orNull(textOf({ max: 200 })), null),
  }),
);

/** Overrides of one run. Throws InvalidInput. */
export function runRequestFrom(body: Uint8Array): RunRequest {
  const input = readRun(body);
  return assertRunRequest({
    settings: input.settings === null ? null : (camelCased(input.settings) as LensSettings),
    lookbackHours: input.lookback_hours,
    start: input.start,
    end: input.end,
    agentName: input.agent_name,
  });
}

export const findingStatusFrom = bodyOf(
  modelOf({ status: required(choiceOf(...FINDING_STATUSES)), reason: optional(anyText, '') }),
);

const readPreview = bodyOf(
  modelOf({
    selection: required(modelOf(SELECTION)),
    lookback_hours: optional(wholeOf({ min: 1 }), 24),
    offset: optional(count, 0),
    as_of: optional(orNull(instant), null),
  }),
);

export function previewFrom(body: Uint8Array): PreviewRequest {
  const { selection, lookback_hours: lookbackHours, offset, as_of: asOf } = readPreview(body);
  return { selection: camelCased(selection) as Selection, lookbackHours, offset, asOf };
}

const readTraces = bodyOf(
  modelOf({
    traces: required(
      listOf(modelOf({ trace_id: required(nonEmptyText), trace_ref: optional(anyText, '') }), { min: 1, max: 500 }),
    ),
  }),
);

export const tracesFrom = (body: Uint8Array) =>
  readTraces(body).traces.map(({ trace_id: traceId, trace_ref: traceRef }) => ({ traceId, traceRef }));

const keyId = textOf({ pattern: /^[a-f0-9]{64}$/ });

export const workerFrom = bodyOf(
  modelOf({
    name: optional(textOf({ min: 1, max: MAX_WORKER_NAME }), 'Lens worker'),
    analysis_key_id: required(keyId),
    managed: optional(flag, false),
  }),
);

export const analysisKeyFrom = bodyOf(modelOf({ analysis_key_id: required(keyId) }));

const readCall = bodyOf(
  modelOf({
    prompt: required(nonEmptyText),
    purpose: required(choiceOf(...PURPOSES)),
    messages: optional(
      orNull(
        listOf(modelOf({ role: required(choiceOf('system', 'user', 'assistant')), content: required(anyText) }), {
          min: 1,
        }),
      ),
      null,
    ),
  }),
);
export const analysisCallFrom = (body: Uint8Array): AnalysisCall => readCall(body);

/** Counts of the executions, batches and tasks of a run, by state. */
const coverage = modelOf({
  eligible: optional(count, 0),
  selected: optional(count, 0),
  screened: optional(count, 0),
  investigated: optional(count, 0),
  inconclusive: optional(count, 0),
  grouping_batches: optional(count, 0),
  grouped_batches: optional(count, 0),
  candidates: optional(count, 0),
  partial: optional(count, 0),
  unassessable: optional(count, 0),
  failed_tasks: optional(count, 0),
  reused: optional(count, 0),
  reusable: optional(count, 0),
});

const kind = choiceOf(...FINDING_KINDS);
const verdict = { check_id: required(nonEmptyText), kind: required(kind), summary: required(textOf({ max: 300 })) };
/** A passage of a span that proves an observation. */
const quote = modelOf({ span_id: required(nonEmptyText), quote: required(nonEmptyText) });

/** What a worker reports about one execution that it has read. */
const review = modelOf({
  execution_id: required(nonEmptyText),
  trace_id: required(anyText),
  agent: optional(anyText, ''),
  name: optional(anyText, ''),
  spans: optional(
    listOf(
      modelOf({
        span_id: required(nonEmptyText),
        name: required(textOf({ max: 120 })),
        kind: required(textOf({ max: 40 })),
        preview: required(textOf({ max: 240 })),
        cited: optional(flag, false),
      }),
      { max: 8 },
    ),
    [],
  ),
  reasoning: optional(textOf({ max: 800 }), ''),
  verdicts: optional(listOf(modelOf(verdict)), []),
  cannot_assess: optional(flag, false),
  model: optional(anyText, ''),
  duration_ms: optional(numberOf({ min: 0 }), 0),
  at: required(nonEmptyText),
  tool_calls: optional(listOf(modelOf({ name: required(anyText), calls: required(count) })), []),
  extraction: optional(
    orNull(
      modelOf({
        observations: required(listOf(modelOf({ ...verdict, evidence: required(listOf(quote)) }))),
        cannot_assess: required(flag),
        reasoning: optional(anyText, ''),
      }),
    ),
    null,
  ),
  content_version: optional(anyText, ''),
  reused: optional(flag, false),
  consolidated: optional(flag, false),
  partial: optional(flag, false),
});

const executionIds = listOf(anyText);

const activity = modelOf({
  id: required(nonEmptyText),
  phase: required(choiceOf(...PHASES)),
  label: required(anyText),
  execution_ids: optional(executionIds, []),
  started_at: required(nonEmptyText),
  operations: optional(count, 0),
  tool_calls: optional(count, 0),
  finished: optional(flag, false),
});

const readProgress = bodyOf(
  modelOf({
    stage: optional(orNull(textOf({ min: 1, max: 200 })), null),
    coverage: optional(orNull(coverage), null),
    review: optional(orNull(review), null),
    reviews: optional(orNull(listOf(review, { max: 1_000 })), null),
    reading: optional(
      orNull(
        listOf(
          modelOf({
            execution_id: required(nonEmptyText),
            trace_id: required(anyText),
            agent: optional(anyText, ''),
            started_at: required(nonEmptyText),
          }),
          { max: 256 },
        ),
      ),
      null,
    ),
    activity: optional(orNull(activity), null),
    activities: optional(orNull(listOf(activity, { max: 256 })), null),
  }),
);

/**
 * The progress that a worker reports. `review` and `reviews` become one list. Null members are left out. Throws
 * InvalidInput.
 */
export function progressFrom(body: Uint8Array): RunProgress {
  const { review: one, reviews, ...input } = readProgress(body);
  const all = [...(one === null ? [] : [one]), ...(reviews ?? [])];
  const present = Object.entries({ ...input, reviews: all }).filter(([, value]) => value !== null);
  return camelCased(Object.fromEntries(present)) as RunProgress;
}

const readResult = bodyOf(
  modelOf({
    assessments: required(
      listOf(
        modelOf({
          execution_id: required(nonEmptyText),
          issue_checks: optional(listOf(anyText), []),
          pattern_checks: optional(listOf(anyText), []),
          cannot_assess: optional(flag, false),
        }),
      ),
    ),
    findings: required(
      listOf(
        modelOf({
          title: required(textOf({ min: 3 })),
          description: required(textOf({ min: 10 })),
          check_id: required(nonEmptyText),
          check_ids: optional(listOf(anyText), []),
          kind: required(kind),
          priority: optional(choiceOf(...PRIORITIES), 'medium'),
          suggestion: optional(anyText, ''),
          limitation: optional(anyText, ''),
          brief: optional(
            orNull(
              modelOf({
                problem: required(anyText),
                user_goal: required(anyText),
                what_happened: required(anyText),
                test_cases: optional(listOf(modelOf({ input: required(anyText), expected: required(anyText) })), []),
              }),
            ),
            null,
          ),
          evidence: required(
            listOf(
              modelOf({
                execution_id: required(nonEmptyText),
                span_id: required(nonEmptyText),
                quote: required(nonEmptyText),
                role: required(choiceOf(...EVIDENCE_ROLES)),
              }),
              { min: 1 },
            ),
          ),
          existing_finding_id: optional(orNull(anyText), null),
          merged_finding_ids: optional(listOf(anyText), []),
        }),
      ),
    ),
    coverage: required(coverage),
    error: optional(anyText, ''),
    review_versions: optional(
      listOf(modelOf({ execution_id: required(nonEmptyText), content_version: required(anyText) })),
      [],
    ),
  }),
);

export const resultFrom = (body: Uint8Array): RunResult => camelCased(readResult(body)) as RunResult;

/** Schemas of the request bodies of lens routes. */
export const LENS_SETTINGS = readSettings.schema;
export const RUN_REQUEST = readRun.schema;
export const PREVIEW = readPreview.schema;
export const TRACES = readTraces.schema;
export const ANALYSIS_CALL = readCall.schema;
export const PROGRESS = readProgress.schema;
export const RESULT = readResult.schema;
