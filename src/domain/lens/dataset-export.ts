import { snakeCased } from '../key-case.ts';
import type { ReadDataset } from './dataset.ts';

/** The included cases, with member names in snake case as in the HTTP routes. */
export const includedCases = ({ cases }: ReadDataset): readonly unknown[] =>
  cases.filter(({ included }) => included).map((one) => snakeCased(one));

/** The included cases as JSON lines; empty without a case. */
export const exportText = (read: ReadDataset): string =>
  includedCases(read)
    .map((one) => `${JSON.stringify(one)}\n`)
    .join('');

/** Name of the file of an export. */
export const exportName = ({ dataset, revision }: ReadDataset): string => `dataset-${dataset.id}-r${revision}.jsonl`;
