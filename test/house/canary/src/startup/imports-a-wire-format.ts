// Breaks `startup`.
import type { Format } from '../wire/imports-an-operation.ts';

export type Read = Format;
