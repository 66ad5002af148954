import type { NativeDialect, OutboundDialect } from '../dialect.ts';
import { upstreamOnly } from '../upstream-only.ts';
import { createConverseReader, errorOf, isAnswer, stepsOf } from './answer.ts';
import { writeConverse } from './write-request.ts';

/** Translates calls to Bedrock's Converse API, and answers from it. */
export const CONVERSE_OUT: OutboundDialect = {
  writeRequest: writeConverse,
  reader: createConverseReader,
  stepsOf,
};

/** Reads errors and usage in answers of the Converse API. Callers do not use this dialect. */
export const CONVERSE_NATIVE: NativeDialect = upstreamOnly({ outbound: CONVERSE_OUT, errorOf, isAnswer });
