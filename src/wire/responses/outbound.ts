import type { OutboundDialect } from '../dialect.ts';
import { createEventReader, stepsOfResponse } from './read-answer.ts';
import { writeResponseRequest } from './write-request.ts';

/** Dialect of Responses upstreams, for callers of other dialects. */
export const RESPONSES_OUT: OutboundDialect = {
  writeRequest: writeResponseRequest,
  reader: createEventReader,
  stepsOf: stepsOfResponse,
};
