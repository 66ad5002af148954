// Breaks `persistence`.
import type { Format } from '../wire/looks-up.ts';

export type Row = Format;
