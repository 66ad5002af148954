// Breaks `persistence`.
import type { Format } from '../wire/imports-an-operation.ts';

export type Row = Format;
