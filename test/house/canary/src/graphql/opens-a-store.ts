// Breaks `graphql`.
import type { Row } from '../persistence/knows-a-format.ts';

export type Result = Row;
