import './nouns.ts';
import { builder } from './base/builder.ts';

/** The schema with its types and fields in no particular order. */
export const unsorted = builder.toSchema({ sortSchema: false });
