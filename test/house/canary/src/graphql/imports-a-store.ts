// Breaks `graphql`.
import type { Row } from '../persistence/imports-a-wire-format.ts';

export type Result = Row;
