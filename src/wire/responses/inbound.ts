import type { InboundDialect } from '../dialect.ts';
import { readResponseRequest } from './read-request.ts';
import { ResponseWriter, wholeResponse } from './write-answer.ts';

/** Callers who speak OpenAI's Responses API. */
export const RESPONSES_IN: InboundDialect = {
  readRequest: readResponseRequest,
  writer: (about) => new ResponseWriter(about),
  whole: wholeResponse,
};
