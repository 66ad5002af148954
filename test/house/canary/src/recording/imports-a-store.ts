// Breaks `recording`.
import type { Row } from '../persistence/imports-a-wire-format.ts';

export type Recorded = Row;
