import type { RowStore, Stamps } from '../row-store.ts';

interface CaseToolCall {
  readonly name: string;
  readonly arguments: string;
}

interface CaseMessage {
  readonly role: string;
  readonly content: string;
  readonly name: string;
  readonly toolCalls: readonly CaseToolCall[];
}

/** Source of a case. Ids are empty where they do not apply. */
export interface CaseSource {
  readonly traceId: string;
  readonly traceRef: string;
  readonly spanId: string;
  readonly findingId: string;
  readonly lensId: string;
}

/** Input and answer of a case. Their hash is the id of the case. */
export interface CaseContent {
  readonly messages: readonly CaseMessage[];
  readonly reply: string;
  readonly toolCalls: readonly CaseToolCall[];
}

/** One test case of a dataset. */
export interface DatasetCase extends CaseContent {
  /** SHA-256 hex of its content. */
  readonly id: string;
  /** Expected behaviour, free text. */
  readonly expected: string;
  /** Whether exports contain it. */
  readonly included: boolean;
  readonly source: CaseSource;
  readonly agentVersion: string;
}

/** Maximum number of cases of a dataset, and maximum length of one case as JSON, in characters. */
export const MAX_CASES = 200;
export const MAX_CASE_CHARACTERS = 20_000;

/** A named list of test cases. Each change makes a revision; earlier ones stay. */
export interface Dataset extends Stamps {
  readonly id: string;
  readonly name: string;
  readonly agentName: string;
  readonly teamId: string;
  /** Number of the latest revision, from 0. */
  readonly latest: number;
  readonly caseCount: number;
}

/** The cases of one revision. */
interface DatasetRevision extends Stamps {
  /** Made by `revisionId`. */
  readonly id: string;
  readonly datasetId: string;
  readonly number: number;
  readonly cases: readonly DatasetCase[];
}

export type DatasetStore = RowStore<Dataset, null>;
export type DatasetRevisionStore = RowStore<DatasetRevision, null>;

export const revisionId = (datasetId: string, number: number): string => `${datasetId}:${number}`;

/** A dataset with the cases of one of its revisions. */
export interface ReadDataset {
  readonly dataset: Dataset;
  readonly revision: number;
  readonly cases: readonly DatasetCase[];
}
