import type { ModelRequest } from '../../../src/domain/chat/chat.ts';
import { InvalidInput } from '../../../src/domain/errors.ts';
import { invalidType } from '../../../src/domain/inference/request-validation.ts';

/**
 * Text of a mock answer (`mock_response`): no model is called. Throws InvalidInput, also for endpoints without text
 * answers.
 */
export function mockResponseOf({
  endpoint,
  body,
}: Pick<ModelRequest, 'endpoint' | 'body'>): Pick<ModelRequest, 'mockResponse'> {
  const mockResponse = body['mock_response'] ?? null;
  if (mockResponse === null) return {};
  if (typeof mockResponse !== 'string') throw invalidType('mock_response', 'a string', endpoint);
  // Answers of conversations are texts, except for counts of tokens, which have a dialect but no answer member.
  const answersText = endpoint.dialect !== null && endpoint.answers.member !== null;
  if (answersText) return { mockResponse };
  const message = `${endpoint.path}: The parameter 'mock_response' cannot be honoured: the endpoint answers no text.`;
  throw new InvalidInput(message, [{ path: ['body', 'mock_response'], rule: 'unsupported', message }]);
}
