import type { InboundDialect } from '../dialect.ts';
import { readResponseRequest } from './read-request.ts';
import { ResponseWriter, wholeResponse } from './write-answer.ts';

/** Dialect of callers that use OpenAI's Responses API. */
export const RESPONSES_IN: InboundDialect = {
  readRequest: readResponseRequest,
  writer: (context) => new ResponseWriter(context),
  whole: wholeResponse,
};
