export const FINDING_KINDS = ['issue', 'pattern'] as const;
export type FindingKind = (typeof FINDING_KINDS)[number];
export const PRIORITIES = ['high', 'medium', 'low'] as const;
export type Priority = (typeof PRIORITIES)[number];
export const FINDING_STATUSES = ['open', 'resolved', 'dismissed'] as const;
export type FindingStatus = (typeof FINDING_STATUSES)[number];
export const EVIDENCE_ROLES = ['support', 'counterexample'] as const;

/** A literal quote of one span. */
export interface Evidence {
  readonly executionId: string;
  readonly spanId: string;
  readonly quote: string;
  readonly role: (typeof EVIDENCE_ROLES)[number];
}

/** How to reproduce an issue. */
interface Brief {
  readonly problem: string;
  readonly userGoal: string;
  readonly whatHappened: string;
  readonly testCases: readonly { readonly input: string; readonly expected: string }[];
}

/** Finding of a run, before it is merged with earlier findings. */
export interface FindingDraft {
  readonly title: string;
  readonly description: string;
  readonly checkId: string;
  readonly checkIds: readonly string[];
  readonly kind: FindingKind;
  readonly priority: Priority;
  readonly suggestion: string;
  readonly limitation: string;
  readonly brief: Brief | null;
  readonly evidence: readonly Evidence[];
  readonly existingFindingId: string | null;
  readonly mergedFindingIds: readonly string[];
}

/** A recurring failure or pattern. Times are ISO 8601, UTC. */
export interface Finding extends FindingDraft {
  readonly id: string;
  readonly status: FindingStatus;
  /** Why its status was set. */
  readonly reason: string;
  readonly firstSeen: string;
  readonly lastSeen: string;
  /** Executions with supporting evidence, sorted. */
  readonly occurrences: readonly string[];
  /** Revision of the lens in the latest run that reported it. */
  readonly revision: number;
  /** Runs that added occurrences. */
  readonly investigationRuns: readonly string[];
}

/** Ids of a finding: its own, and those of findings that were merged into it. */
const idsOf = ({ id, mergedFindingIds }: Finding): readonly string[] => [id, ...mergedFindingIds];

/** The finding with an id, or the one that a finding with this id was merged into. */
export const findingNamed = (findings: readonly Finding[], id: string): Finding | undefined =>
  findings.find((one) => idsOf(one).includes(id));

const occurrencesOf = (evidence: readonly Evidence[]): readonly string[] =>
  [...new Set(evidence.flatMap(({ role, executionId }) => (role === 'support' ? [executionId] : [])))].toSorted();

const keyOf = ({ executionId, spanId, quote, role }: Evidence): string =>
  JSON.stringify([executionId, spanId, quote, role]);

/** The evidence of both lists, each item once. */
export const joinedEvidence = (left: readonly Evidence[], right: readonly Evidence[]): readonly Evidence[] => [
  ...new Map([...left, ...right].map((one) => [keyOf(one), one])).values(),
];

/** The run whose drafts are merged. */
export interface MergeContext {
  readonly runId: string;
  readonly revision: number;
  /** ISO 8601. */
  readonly now: string;
  newId(): string;
}

/** Findings after a run, and those that it added or changed. */
export interface MergeResult {
  readonly findings: readonly Finding[];
  readonly changed: readonly Finding[];
}

/**
 * Earlier findings that a draft names. The first is the oldest. All have the kind of the draft, and the status and
 * reason of the oldest.
 */
function matchesOf(findings: readonly Finding[], draft: FindingDraft): readonly Finding[] {
  const namedIds = [draft.existingFindingId, ...draft.mergedFindingIds].flatMap((id) => id ?? []);
  const found = findings.filter((one) => one.kind === draft.kind && namedIds.some((id) => idsOf(one).includes(id)));
  const [oldest] = found.toSorted((left, right) => (left.firstSeen < right.firstSeen ? -1 : 1));
  if (oldest === undefined) return [];
  const matching = found.filter(({ status, reason }) => status === oldest.status && reason === oldest.reason);
  return [oldest, ...matching.filter((one) => one !== oldest)];
}

function mergedInto(draft: FindingDraft, matches: readonly Finding[], about: MergeContext): Finding {
  const [oldest] = matches;
  const occurrences = occurrencesOf(draft.evidence);
  if (oldest === undefined)
    return {
      ...draft,
      id: about.newId(),
      existingFindingId: null,
      mergedFindingIds: [],
      status: 'open',
      reason: '',
      firstSeen: about.now,
      lastSeen: about.now,
      occurrences,
      revision: about.revision,
      investigationRuns: [about.runId],
    };
  const knownOccurrences = new Set(matches.flatMap((one) => one.occurrences));
  const isSeenAgain = occurrences.some((id) => !knownOccurrences.has(id));
  const evidence = matches.reduce<readonly Evidence[]>((all, one) => joinedEvidence(all, one.evidence), []);
  const runs = matches.flatMap((one) => one.investigationRuns);
  const seenTimes = matches.map(({ lastSeen }) => lastSeen).toSorted();
  return {
    ...draft,
    id: oldest.id,
    existingFindingId: null,
    mergedFindingIds: [...new Set(matches.flatMap(idsOf))].filter((id) => id !== oldest.id),
    evidence: joinedEvidence(evidence, draft.evidence),
    status: isSeenAgain && oldest.status === 'resolved' ? 'open' : oldest.status,
    reason: oldest.reason,
    firstSeen: oldest.firstSeen,
    lastSeen: isSeenAgain ? about.now : (seenTimes.at(-1) ?? about.now),
    occurrences: [...new Set([...knownOccurrences, ...occurrences])].toSorted(),
    revision: about.revision,
    investigationRuns: isSeenAgain ? [...new Set([...runs, about.runId])] : [...new Set(runs)],
  };
}

/**
 * Merges drafts into findings. A draft names earlier findings. Of these, all with the kind of the draft, and with the
 * status and reason of the oldest, become one finding. It has their joined evidence and occurrences. A resolved finding
 * that occurs again becomes open, a dismissed one stays dismissed. Titles are never compared. New findings come first.
 */
export function mergeFindings(
  before: readonly Finding[],
  drafts: readonly FindingDraft[],
  about: MergeContext,
): MergeResult {
  let findings = before;
  const changed: Finding[] = [];
  for (const draft of drafts) {
    const matches = matchesOf(findings, draft);
    const merged = mergedInto(draft, matches, about);
    const [oldest, ...absorbed] = matches;
    const remaining = findings.filter((one) => !absorbed.includes(one));
    findings = oldest === undefined ? [merged, ...remaining] : remaining.map((one) => (one === oldest ? merged : one));
    const place = changed.findIndex(({ id }) => id === merged.id);
    if (place === -1) changed.push(merged);
    else changed[place] = merged;
  }
  return { findings, changed };
}

/** The findings with a new status and reason for the one with this id; unchanged when none has it. */
export function withStatus(
  findings: readonly Finding[],
  id: string,
  { status, reason }: Pick<Finding, 'status' | 'reason'>,
): readonly Finding[] {
  const found = findingNamed(findings, id);
  return findings.map((one) => (one === found ? { ...one, status, reason } : one));
}
