// Breaks `ingest`.
import type { Row } from '../persistence/knows-a-format.ts';

export type Packed = Row;
