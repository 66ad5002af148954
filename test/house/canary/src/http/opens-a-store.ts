// Breaks `http`.
import type { Row } from '../persistence/knows-a-format.ts';

export type Answer = Row;
