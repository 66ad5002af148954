import type { NativeDialect, OutboundDialect } from '../dialect.ts';
import { upstreamOnly } from '../upstream-only.ts';
import { createConverseReader, errorOf, isAnswer, stepsOf } from './answer.ts';
import { writeConverse } from './write-request.ts';

/** Dialect of Bedrock's Converse API, for callers of other dialects. */
export const CONVERSE_OUT: OutboundDialect = {
  writeRequest: writeConverse,
  reader: createConverseReader,
  stepsOf,
};

/** Native dialect of Bedrock's Converse API. */
export const CONVERSE_NATIVE: NativeDialect = upstreamOnly({ outbound: CONVERSE_OUT, errorOf, isAnswer });
