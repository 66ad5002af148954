// Breaks `recording`.
import type { Row } from '../persistence/knows-a-format.ts';

export type Recorded = Row;
