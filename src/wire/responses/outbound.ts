import type { OutboundDialect } from '../dialect.ts';
import { createEventReader, stepsOfResponse } from './read-answer.ts';
import { writeResponseRequest } from './write-request.ts';

/** Upstreams that are asked through the Responses API, for callers who speak something else. */
export const RESPONSES_OUT: OutboundDialect = {
  writeRequest: writeResponseRequest,
  reader: createEventReader,
  stepsOf: stepsOfResponse,
};
