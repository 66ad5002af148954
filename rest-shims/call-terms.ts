import type { ModelRequest } from '../src/domain/chat/chat.ts';
import { retriesOf } from './call-retries.ts';
import { timeoutOf } from './call-timeout.ts';
import type { HttpRequest } from './route.ts';

type Asked = Pick<ModelRequest, 'endpoint' | 'stream' | 'body'>;

/** What a request says of how it is to be carried out, beside what it asks of the model. Throws InvalidInput. */
export const callTermsOf = (
  request: Pick<HttpRequest, 'headers'>,
  asked: Asked,
): Pick<ModelRequest, 'timeoutSeconds' | 'retries'> => ({
  ...timeoutOf(request, asked),
  ...retriesOf(request, asked),
});
