import './nouns.ts';
import { builder } from './base/builder.ts';

/** The schema before its types and fields are sorted. */
export const unsortedSchema = builder.toSchema({ sortSchema: false });
