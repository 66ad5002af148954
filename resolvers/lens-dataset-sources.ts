import {
  caseOfLine,
  caseOfMessage,
  caseOfSpan,
  type CaseDraft,
  caseSeed,
  isConversation,
  isTooLarge,
  jsonLines,
  NO_SOURCE,
} from '../src/domain/lens/dataset-cases.ts';
import { type CaseSource, type DatasetCase, MAX_CASES } from '../src/domain/lens/dataset.ts';
import { readExecutionId } from '../src/domain/lens/execution.ts';
import { findingNamed } from '../src/domain/lens/finding.ts';
import type { Span } from '../src/domain/traces/span.ts';
import type { TraceSummary } from '../src/domain/traces/trace.ts';
import { lensAdmin } from './operation/lens-access.ts';
import { operation } from './operation/operation.ts';
import type { LensPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';
import { DATASET_LIMITS } from '../src/domain/lens/text-limits.ts';
import { InvalidInput } from '../src/domain/errors.ts';
import { nullIfEmpty } from '../src/domain/optional-text.ts';
import { datasetAt } from './operation/lens-datasets.ts';

/** Source of dataset cases. An empty `spanId` selects the latest model call with a conversation. */
export type DatasetSource =
  | { readonly kind: 'trace'; readonly traceId: string; readonly traceRef: string; readonly spanId: string }
  | { readonly kind: 'finding'; readonly lensId: string; readonly findingIds: readonly string[] }
  | { readonly kind: 'text'; readonly text: string };

type SkipReason = 'duplicate' | 'no_content' | 'too_large' | 'over_limit' | 'invalid';

export interface BuiltCases {
  readonly cases: readonly DatasetCase[];
  readonly skipped: readonly { readonly source: CaseSource; readonly reason: SkipReason }[];
}

/** A case, or why none was built. */
type Built = CaseDraft | { readonly source: CaseSource; readonly reason: SkipReason };

const skip = (source: Partial<CaseSource>, reason: SkipReason): Built => ({
  source: { ...NO_SOURCE, ...source },
  reason,
});

const ALL_OWNERS = { kind: 'all' } as const;

async function traceOf(scope: Scope<LensPlatform>, traceId: string, traceRef: string): Promise<TraceSummary | null> {
  const { stores, records } = scope.platform;
  await records.readable();
  const found = await stores.traces.findSummaries(ALL_OWNERS, traceId.toLowerCase(), nullIfEmpty(traceRef));
  return found[0] ?? null;
}

/** The latest model call of a trace whose input is a conversation. */
async function latestConversation({ platform }: Scope<LensPlatform>, trace: TraceSummary): Promise<Span | null> {
  const { traces } = platform.stores;
  const heads = (await traces.listSpans([trace])).get(trace.traceRef) ?? [];
  for (const { spanId, type } of heads.toReversed()) {
    const span = type === 'llm' ? await traces.findSpan([trace], spanId) : null;
    if (span !== null && isConversation(span)) return span;
  }
  return null;
}

async function fromTrace(
  scope: Scope<LensPlatform>,
  { traceId, traceRef, spanId }: { readonly traceId: string; readonly traceRef: string; readonly spanId: string },
  origin: Partial<CaseSource>,
): Promise<Built> {
  const source = { ...origin, traceId, traceRef, spanId };
  const trace = await traceOf(scope, traceId, traceRef);
  if (trace === null) return skip(source, 'no_content');
  const span =
    spanId === ''
      ? await latestConversation(scope, trace)
      : await scope.platform.stores.traces.findSpan([trace], spanId.toLowerCase());
  const built = span === null ? null : caseOfSpan(span, { ...origin, traceRef: trace.traceRef });
  return built ?? skip(source, 'no_content');
}

/** One case for each span that the evidence of the findings quotes. Unknown findings are ignored. */
async function fromFindings(
  scope: Scope<LensPlatform>,
  { lensId, findingIds }: Extract<DatasetSource, { kind: 'finding' }>,
): Promise<readonly Built[]> {
  const state = await scope.platform.stores.lenses.find(lensId);
  const built: Built[] = [];
  for (const id of new Set(findingIds)) {
    const finding = findingNamed(state?.findings ?? [], id);
    const spans = new Map(finding?.evidence.map((one) => [`${one.executionId} ${one.spanId}`, one]));
    for (const { executionId, spanId } of spans.values()) {
      const address = readExecutionId(executionId);
      if (address !== null) built.push(await fromTrace(scope, { ...address, spanId }, { lensId, findingId: id }));
    }
  }
  return built;
}

/** Cases of a text: one for each JSON line with `messages`, or one with the text as a user message. */
function fromText(text: string): readonly Built[] {
  if (text.trim() === '') return [skip({}, 'no_content')];
  const lines = jsonLines(text);
  if (lines === null) return [caseOfMessage(text)];
  return lines.map((line) => {
    const draft = caseOfLine(line);
    if (draft === null) return skip({}, 'invalid');
    return draft.messages.length === 0 ? skip({}, 'no_content') : draft;
  });
}

/**
 * Builds cases from traces, findings and texts, without saving them. Throws NotFound for an unknown dataset, and
 * InvalidInput for no source or too many.
 */
export const buildDatasetCases = operation({
  name: 'buildDatasetCases',
  access: lensAdmin,
  async run(
    scope: Scope<LensPlatform>,
    {
      sources,
      datasetId,
    }: {
      readonly sources: readonly DatasetSource[];
      /**
       * Dataset for which the cases are built; null for none. The cases of its latest revision are skipped as
       * duplicates and count towards MAX_CASES.
       */
      readonly datasetId: string | null;
    },
  ): Promise<BuiltCases> {
    assertSourceCount(sources.length);
    const existing = datasetId === null ? [] : (await datasetAt(scope, datasetId, null)).cases;
    const usedIds = new Set(existing.map(({ id }) => id));
    const cases: DatasetCase[] = [];
    const skipped: BuiltCases['skipped'][number][] = [];
    for (const source of sources)
      for (const one of await builtFrom(scope, source)) {
        if ('reason' in one) {
          skipped.push(one);
          continue;
        }
        const id = scope.platform.keyGenerator.hash(caseSeed(one));
        const reason = skipReasonOf(one, usedIds.has(id), usedIds.size);
        if (reason !== null) {
          skipped.push({ source: one.source, reason });
          continue;
        }
        usedIds.add(id);
        cases.push({ ...one, id });
      }
    return { cases, skipped };
  },
});

/** Why a case is skipped; null for a case that is used. `count` is the number of cases before it. */
const skipReasonOf = (one: CaseDraft, isTaken: boolean, count: number): SkipReason | null => {
  if (isTaken) return 'duplicate';
  if (isTooLarge(one)) return 'too_large';
  return count >= MAX_CASES ? 'over_limit' : null;
};

async function builtFrom(scope: Scope<LensPlatform>, source: DatasetSource): Promise<readonly Built[]> {
  switch (source.kind) {
    case 'trace':
      return [await fromTrace(scope, source, {})];
    case 'finding':
      return fromFindings(scope, source);
    case 'text':
      return fromText(source.text);
  }
}

function assertSourceCount(count: number): void {
  const { sources: max } = DATASET_LIMITS;
  if (count >= 1 && count <= max) return;
  const message = `must have 1 to ${max} sources`;
  throw new InvalidInput(`\`sources\` ${message}.`, [{ path: ['body', 'sources'], rule: 'range', message }]);
}
