import { compare } from '../../compare.ts';
import { GROUP_TASK, RECONCILE_TASK, fenced } from '../prompts/prompts.ts';
import type { FindingKind } from '../finding.ts';
import type { Observation, Review } from '../review.ts';
import type { Analyst } from './analyst.ts';
import { listOf, objectOf, orNull, textUpTo } from './structure.ts';

/** An observation and the execution that it is about. */
export interface Sighting {
  readonly executionId: string;
  readonly observation: Observation;
}

/** Sightings of one suspected failure or pattern. */
export interface Candidate {
  readonly checkId: string;
  readonly kind: FindingKind;
  readonly title: string;
  readonly hypothesis: string;
  readonly sightings: readonly Sighting[];
}

/** Maximum characters of summaries in one question, unless one summary alone is longer. */
const BATCH_CHARACTERS = 16_000;
/** Maximum lengths of texts in an answer, in characters. The ids are those that the question gave. */
const MAX_ID_CHARACTERS = 40;
const MAX_TITLE_CHARACTERS = 160;
const MAX_HYPOTHESIS_CHARACTERS = 600;

const GROUP_ANSWER = objectOf({
  groups: listOf(
    objectOf({
      group: orNull(textUpTo(MAX_ID_CHARACTERS)),
      title: textUpTo(MAX_TITLE_CHARACTERS),
      hypothesis: textUpTo(MAX_HYPOTHESIS_CHARACTERS),
      references: listOf(textUpTo(MAX_ID_CHARACTERS)),
    }),
  ),
});

const RECONCILE_ANSWER = objectOf({ same: listOf(listOf(textUpTo(MAX_ID_CHARACTERS))) });

interface Batch {
  readonly checkId: string;
  readonly kind: FindingKind;
  readonly sightings: readonly Sighting[];
}

const sortKey = ({ executionId, observation: { checkId, kind, summary } }: Sighting): string =>
  JSON.stringify([checkId, kind, executionId, summary]);

/** All sightings in a fixed order, so that a restarted run sends the same requests. */
export function sightingsOf(reviews: readonly Pick<Review, 'executionId' | 'extraction'>[]): readonly Sighting[] {
  return reviews
    .flatMap(({ executionId, extraction }) =>
      (extraction?.observations ?? []).map((observation): Sighting => ({ executionId, observation })),
    )
    .map((sighting) => ({ sighting, key: sortKey(sighting) }))
    .toSorted((left, right) => compare(left.key, right.key))
    .map(({ sighting }) => sighting);
}

/** The sightings in batches of one check and kind each, of at most `BATCH_CHARACTERS`. */
function batchesOf(sightings: readonly Sighting[]): readonly Batch[] {
  const batches: { checkId: string; kind: FindingKind; sightings: Sighting[]; size: number }[] = [];
  for (const sighting of sightings) {
    const { checkId, kind, summary } = sighting.observation;
    const last = batches.at(-1);
    const fits = last?.checkId === checkId && last.kind === kind && last.size + summary.length <= BATCH_CHARACTERS;
    if (last !== undefined && fits) {
      last.sightings.push(sighting);
      last.size += summary.length;
    } else batches.push({ checkId, kind, sightings: [sighting], size: summary.length });
  }
  return batches;
}

interface RegisteredCandidate {
  readonly id: string;
  readonly candidate: Candidate;
}

/** The candidate of one sighting that the model left out or could not group. */
const singleCandidate = ({ executionId, observation }: Sighting): Candidate => ({
  checkId: observation.checkId,
  kind: observation.kind,
  title: observation.summary.slice(0, MAX_TITLE_CHARACTERS),
  hypothesis: observation.summary,
  sightings: [{ executionId, observation }],
});

/** The candidates of one check and kind after one more batch. */
async function addBatch(registry: readonly RegisteredCandidate[], batch: Batch, analyst: Analyst) {
  const sightingById = new Map(batch.sightings.map((sighting, at) => [`o${at + 1}`, sighting]));
  const answer = await analyst.ask({
    purpose: 'cluster',
    task: GROUP_TASK,
    structure: GROUP_ANSWER,
    members: {
      check: batch.checkId,
      kind: batch.kind,
      groups: registry.map(({ id, candidate }) => ({
        id,
        title: candidate.title,
        hypothesis: candidate.hypothesis,
      })),
      observations: fenced(
        [...sightingById]
          .map(([id, { observation }]) => `${id} | ${observation.summary.replaceAll(/\s+/g, ' ')}`)
          .join('\n'),
      ),
    },
  });
  const ungrouped = new Map(sightingById);
  const candidates = new Map(registry.map(({ id, candidate }) => [id, candidate]));
  let next = registry.length + 1;
  const add = (candidate: Candidate): void => {
    candidates.set(`g${next}`, candidate);
    next += 1;
  };
  if ('value' in answer)
    for (const { group, title, hypothesis, references } of answer.value.groups) {
      const sightings = references.flatMap((id) => {
        const sighting = ungrouped.get(id);
        ungrouped.delete(id);
        return sighting === undefined ? [] : [sighting];
      });
      if (sightings.length === 0) continue;
      const existing = group.value === null ? undefined : candidates.get(group.value);
      if (existing !== undefined && group.value !== null)
        candidates.set(group.value, { ...existing, sightings: [...existing.sightings, ...sightings] });
      else add({ checkId: batch.checkId, kind: batch.kind, title, hypothesis, sightings });
    }
  for (const sighting of ungrouped.values()) add(singleCandidate(sighting));
  return {
    registry: [...candidates].map(([id, candidate]): RegisteredCandidate => ({ id, candidate })),
    failedAnswer: 'failure' in answer ? answer : null,
  };
}

const mergeCandidates = (candidates: readonly Candidate[]): readonly Candidate[] => {
  const [first, ...others] = candidates.toSorted((left, right) => right.sightings.length - left.sightings.length);
  if (first === undefined) return [];
  return [{ ...first, sightings: [...first.sightings, ...others.flatMap(({ sightings }) => sightings)] }];
};

/**
 * The candidates of one check and kind, with those of the same cause joined. Unchanged when the model gives no answer.
 */
async function reconcile(registry: readonly RegisteredCandidate[], analyst: Analyst): Promise<readonly Candidate[]> {
  const candidates = registry.map(({ candidate }) => candidate);
  const [first] = candidates;
  if (first === undefined || candidates.length < 2) return candidates;
  const answer = await analyst.ask({
    purpose: 'cluster',
    task: RECONCILE_TASK,
    structure: RECONCILE_ANSWER,
    members: {
      check: first.checkId,
      kind: first.kind,
      groups: registry.map(({ id, candidate }) => ({ id, title: candidate.title, hypothesis: candidate.hypothesis })),
    },
  });
  if ('failure' in answer) return candidates;
  const unmerged = new Map(registry.map(({ id, candidate }) => [id, candidate]));
  const sets = answer.value.same.map((ids) =>
    ids.flatMap((id) => {
      const candidate = unmerged.get(id);
      unmerged.delete(id);
      return candidate === undefined ? [] : [candidate];
    }),
  );
  return [...sets.flatMap(mergeCandidates), ...unmerged.values()];
}

/** Groups of all sightings, and the progress of the grouping. */
export interface Grouping {
  readonly candidates: readonly Candidate[];
  readonly batches: number;
  readonly groupedBatches: number;
  readonly failures: readonly string[];
  /** Whether the budget is used up. */
  readonly final: boolean;
}

/**
 * Groups the sightings of each check and kind by their cause. `reportProgress` is called before the first batch and
 * after each batch, with the number of all batches and of grouped ones.
 */
export async function groupSightings(
  sightings: readonly Sighting[],
  analyst: Analyst,
  reportProgress: (batches: number, groupedBatches: number) => void,
): Promise<Grouping> {
  const batches = batchesOf(sightings);
  const sections = [...Map.groupBy(batches, ({ checkId, kind }) => JSON.stringify([checkId, kind])).values()];
  const candidates: Candidate[] = [];
  const failures: string[] = [];
  let groupedBatches = 0;
  let isFinal = false;
  reportProgress(batches.length, 0);
  for (const section of sections) {
    let registry: readonly RegisteredCandidate[] = [];
    for (const batch of section) {
      const result = await addBatch(registry, batch, analyst);
      ({ registry } = result);
      if (result.failedAnswer === null) groupedBatches += 1;
      else {
        failures.push(result.failedAnswer.failure);
        isFinal ||= result.failedAnswer.final;
      }
      reportProgress(batches.length, groupedBatches);
    }
    const found =
      section.length > 1 && !isFinal ? await reconcile(registry, analyst) : registry.map(({ candidate }) => candidate);
    candidates.push(...found);
  }
  return { candidates, batches: batches.length, groupedBatches, failures, final: isFinal };
}
