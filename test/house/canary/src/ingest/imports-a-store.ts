// Breaks `ingest`.
import type { Row } from '../persistence/imports-a-wire-format.ts';

export type Packed = Row;
