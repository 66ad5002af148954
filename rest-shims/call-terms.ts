import type { ModelRequest } from '../src/domain/chat/chat.ts';
import { labelsOf } from './call-labels.ts';
import { assertHonoured } from './call-refusals.ts';
import { retriesOf } from './call-retries.ts';
import { timeoutOf } from './call-timeout.ts';
import { credentialsOf } from './client-credentials.ts';
import { mockOf } from './mock-response.ts';
import type { HttpRequest } from './route.ts';

type Asked = Pick<ModelRequest, 'endpoint' | 'stream' | 'body'>;
type Terms = Pick<ModelRequest, 'timeoutSeconds' | 'retries' | 'labels' | 'unkept' | 'credentials' | 'mockResponse'>;

/** What a request says of how it is to be carried out, beside what it asks of the model. Throws InvalidInput. */
export function callTermsOf(request: Pick<HttpRequest, 'headers'>, asked: Asked): Terms {
  assertHonoured(asked.body, asked.endpoint);
  return {
    ...timeoutOf(request, asked),
    ...retriesOf(request, asked),
    ...labelsOf(request, asked),
    ...credentialsOf(asked),
    ...mockOf(asked),
  };
}
